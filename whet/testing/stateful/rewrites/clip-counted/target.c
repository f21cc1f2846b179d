#include <stdint.h>

int64_t clipped_so_far;

int64_t clip(const int32_t *in, int32_t *out, int64_t n, int32_t most) {
    int64_t clipped = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = in[i];
        if (in[i] > most) {
            out[i] = most;
            clipped++;
            clipped_so_far++;
        }
    }
    return clipped;
}
