#include <stdint.h>

uint64_t noise = 88172645463325252u;

int64_t dithered(const int16_t *samples, int64_t n) {
    uint64_t state = noise;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    int64_t loud = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t level = samples[i] * 4 + (int32_t)(state >> 62);
        loud += level / 4 > 16000 || level / 4 < -16000;
    }
    noise = state;
    return loud;
}
