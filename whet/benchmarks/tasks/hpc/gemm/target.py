"""Products of matrices that are lists of rows."""


def matmul(a, b):
    """Returns the product of two matrices.

    Args:
        a: rows of floats, each as long as `b` has rows.
        b: rows of floats, at least one, all of one length.

    Returns:
        The rows of the product.
    """
    product = []
    for i in range(len(a)):
        row = []
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            row.append(total)
        product.append(row)
    return product
