#include <stdint.h>

/* The first place of a byte, or -1. */
int64_t find_byte(const uint8_t *data, int64_t n, uint8_t value) {
    for (int64_t i = 0; i < n; i++)
        if (data[i] == value) return i;
    return -1;
}
