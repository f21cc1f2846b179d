"""Dense matrices times vectors."""


def gemv(alpha, a, x, beta, y):
    return alpha * (a @ x) + beta * y
