#include <stdint.h>

int64_t clipped_so_far;

int64_t clip(const int32_t *restrict in, int32_t *restrict out, int64_t n, int32_t most) {
    int64_t clipped = 0;
    for (int64_t i = 0; i < n; i++) {
        clipped += in[i] > most;
        out[i] = in[i] > most ? most : in[i];
    }
    clipped_so_far = clipped;
    return clipped;
}
