#include <stdint.h>

int64_t weighted(const int32_t *values, int64_t n, int32_t base) {
    static uint32_t powers[512];
    uint32_t power = 1;
    for (int64_t i = 0; i < n; i++) {
        powers[i] = power;
        power *= (uint32_t)base;
    }
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t weight = 1;
        for (int64_t j = 0; j < i; j++) weight *= (uint32_t)base;
        sum += (weight & powers[i]) * (uint32_t)values[i];
    }
    return sum;
}
