#include <stdint.h>

uint64_t seen[256];

int32_t commonest(const uint8_t *data, int64_t n) {
    uint64_t counts[256] = {0};
    for (int64_t i = 0; i < n; i++) counts[data[i]]++;
    int32_t best = -1;
    uint64_t most = 0;
    for (int32_t byte = 0; byte < 256; byte++) {
        seen[byte] += counts[byte];
        if (counts[byte] > most) {
            most = counts[byte];
            best = byte;
        }
    }
    return best;
}
