#include <stdint.h>

/* A sweep over a grid, stored row by row: inner points become the mean of their neighbours and their source. */
void jacobi(const float *in, const float *source, float *out, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            int64_t at = i * columns + j;
            if (i == 0 || j == 0 || i == rows - 1 || j == columns - 1)
                out[at] = in[at];
            else
                out[at] = 0.25f * (in[at - columns] + in[at + columns] + in[at - 1] + in[at + 1]) + source[at];
        }
    }
}
