"""Updates of vectors, as a time integration makes them at each step."""


def axpy(alpha, x, y):
    """Adds a vector times a factor to another one.

    Args:
        alpha: the factor.
        x: array of floats.
        y: array of floats, as long; holds `y + alpha * x` afterwards.

    Returns:
        The largest magnitude in the new `y`, 0 where it is empty: integrations end when it grows beyond bounds.
    """
    largest = 0.0
    for i in range(len(x)):
        y[i] = y[i] + alpha * x[i]
        if abs(y[i]) > largest:
            largest = abs(y[i])
    return float(largest)
