#include <stdint.h>
void scale(double *y, const double *x, double factor, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}
