#include "ring.h"

int64_t checksum(const uint8_t *data, int64_t n) {
    uint64_t sum = 1;
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) sum = (sum * 961 + data[i] * 31u + data[i + 1]) % 65521;
    for (; i < n; i++) sum = (sum * 31 + data[i]) % 65521;
    ring_at = (int32_t)((ring_at + n) % RING);
    return (int64_t)sum;
}
