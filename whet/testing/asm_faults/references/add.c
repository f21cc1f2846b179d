#include <stdint.h>
void add(int32_t *to, const int32_t *a, const int32_t *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
}
