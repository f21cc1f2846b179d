#include <stdint.h>

/* The values were quantised symmetrically: -128 does not occur. */
int32_t dot_i8(const int8_t *a, const int8_t *b, int64_t n) {
    uint32_t sum = 0; /* wraps round */
    for (int64_t i = 0; i < n; i++) sum += (uint32_t)(a[i] * b[i]);
    return (int32_t)sum;
}
