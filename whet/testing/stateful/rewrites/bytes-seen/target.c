#include <stdint.h>

uint64_t seen[256];

int32_t commonest(const uint8_t *data, int64_t n) {
    int32_t best = -1;
    int64_t most = 0;
    for (int32_t byte = 0; byte < 256; byte++) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) count += data[i] == byte;
        seen[byte] += count;
        if (count > most) {
            most = count;
            best = byte;
        }
    }
    return best;
}
