"""Updates of vectors, as a time integration makes them at each step."""


def axpy(alpha, x, y):
    y += alpha * x
    return max(float(y.max()), -float(y.min())) if len(y) else 0.0
