#include <stdint.h>

int64_t popcount_sum(const uint64_t *words, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t word = words[i];
        word -= word >> 1 & 0x5555555555555555;
        word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
        word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
        count += (int64_t)(word * 0x0101010101010101 >> 56);
    }
    return count;
}
