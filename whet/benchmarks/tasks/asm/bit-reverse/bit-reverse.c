#include <stdint.h>

void bit_reverse(const uint32_t *in, uint32_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t word = in[i];
        word = (word >> 1 & 0x55555555) | (word & 0x55555555) << 1;
        word = (word >> 2 & 0x33333333) | (word & 0x33333333) << 2;
        word = (word >> 4 & 0x0f0f0f0f) | (word & 0x0f0f0f0f) << 4;
        word = (word >> 8 & 0x00ff00ff) | (word & 0x00ff00ff) << 8;
        out[i] = word >> 16 | word << 16;
    }
}
