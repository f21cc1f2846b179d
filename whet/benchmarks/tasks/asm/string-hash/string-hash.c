#include <stdint.h>

uint32_t string_hash(const uint8_t *text, int64_t n) {
    uint32_t hash = 0;
    for (int64_t i = 0; i < n; i++) hash = hash * 31 + text[i];
    return hash;
}
