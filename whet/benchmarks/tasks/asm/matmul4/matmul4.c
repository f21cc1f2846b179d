#include <stdint.h>

/* Products of pairs of 4x4 matrices, each stored row by row. */
void matmul4(const float *a, const float *b, float *out, int64_t n) {
    for (int64_t m = 0; m < n; m++, a += 16, b += 16, out += 16)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                out[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + a[4 * i + 3] * b[12 + j];
}
