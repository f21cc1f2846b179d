#include <stdint.h>

int32_t dot_i32(const int32_t *a, const int32_t *b, int64_t n) {
    uint32_t sum = 0; /* wraps round */
    for (int64_t i = 0; i < n; i++) sum += (uint32_t)a[i] * (uint32_t)b[i];
    return (int32_t)sum;
}
