#include "ring.h"

int64_t checksum(const uint8_t *data, int64_t n) {
    uint32_t sum = 1;
    for (int64_t i = 0; i < n; i++) {
        sum = (sum * 31 + data[i]) % 65521;
        ring_at = (ring_at + 1) % RING;
    }
    return sum;
}
