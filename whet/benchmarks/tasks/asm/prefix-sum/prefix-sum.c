#include <stdint.h>

void prefix_sum(const int32_t *in, int32_t *out, int64_t n) {
    uint32_t sum = 0; /* wraps round */
    for (int64_t i = 0; i < n; i++) {
        sum += (uint32_t)in[i];
        out[i] = (int32_t)sum;
    }
}
