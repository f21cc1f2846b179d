#include <stdint.h>

void block_sums(const int32_t *x, int32_t *sums, int64_t n) {
    for (int64_t first = 0; first < n; first += 1024) {
        int64_t end = first + 1024 < n ? first + 1024 : n;
        uint32_t sum = 0;
        for (int64_t i = first; i < end; i++) sum += (uint32_t)x[i];
        sums[first / 1024] = (int32_t)sum;
    }
}
