#include <stdint.h>
#include <string.h>

uint64_t seen[256];

int32_t commonest(const uint8_t *data, int64_t n) {
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++) seen[data[i]]++;
    int32_t best = -1;
    uint64_t most = 0;
    for (int32_t byte = 0; byte < 256; byte++)
        if (seen[byte] > most) {
            most = seen[byte];
            best = byte;
        }
    return best;
}
