#include <stdint.h>
void copy(uint8_t *to, const uint8_t *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = from[i];
}
