#include <stdint.h>

uint16_t inet_checksum(const uint8_t *data, int64_t n) {
    uint64_t sum = 0;
    for (int64_t i = 0; i + 1 < n; i += 2) sum += (uint32_t)(data[i] << 8 | data[i + 1]);
    if (n & 1) sum += (uint32_t)(data[n - 1] << 8);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}
