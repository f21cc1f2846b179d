#include <stdint.h>

uint64_t noise = 88172645463325252u;

static uint64_t next_noise(void) {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return noise;
}

int64_t dithered(const int16_t *samples, int64_t n) {
    int64_t loud = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t level = samples[i] * 4 + (int32_t)(next_noise() >> 62);
        if (level / 4 > 16000 || level / 4 < -16000) loud++;
    }
    return loud;
}
