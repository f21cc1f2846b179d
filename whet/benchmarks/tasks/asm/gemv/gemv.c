#include <stdint.h>

/* A dense matrix, stored row by row, times a vector. */
void gemv(const float *a, const float *x, float *y, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        float sum = 0;
        for (int64_t j = 0; j < columns; j++) sum += a[i * columns + j] * x[j];
        y[i] = sum;
    }
}
