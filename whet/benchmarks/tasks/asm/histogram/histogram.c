#include <stdint.h>

void histogram(const uint8_t *data, int64_t n, uint32_t *counts) {
    for (int i = 0; i < 256; i++) counts[i] = 0;
    for (int64_t i = 0; i < n; i++) counts[data[i]]++;
}
