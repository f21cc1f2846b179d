#include <stddef.h>
#include <stdint.h>

const uint8_t *last_match;

int64_t find_pair(const uint8_t *data, int64_t n, uint8_t first, uint8_t second) {
    last_match = NULL;
    for (int64_t i = n - 2; i >= 0; i--)
        if (data[i] == first && data[i + 1] == second) last_match = data + i;
    return last_match ? last_match - data : -1;
}
