#include <stdint.h>

void saxpy(float a, const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
