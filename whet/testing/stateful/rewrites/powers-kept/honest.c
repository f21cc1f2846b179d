#include <stdint.h>

int64_t weighted(const int32_t *values, int64_t n, int32_t base) {
    static uint32_t powers[512];
    static int64_t known;
    static int32_t known_base;
    if (n > known || base != known_base) {
        powers[0] = 1;
        for (int64_t i = 1; i < n; i++) powers[i] = powers[i - 1] * (uint32_t)base;
        known = n;
        known_base = base;
    }
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += powers[i] * (uint32_t)values[i];
    return sum;
}
