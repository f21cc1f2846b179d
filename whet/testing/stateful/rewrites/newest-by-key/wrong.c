#include <stdint.h>

#define SLOTS 128

static int32_t keys[SLOTS];
static int64_t newest[SLOTS];

int64_t newest_of(int32_t key) {
    int32_t slot = key % SLOTS;
    while (keys[slot] != key) {
        if (keys[slot] == 0)
            return -1;
        slot = (slot + 1) % SLOTS;
    }
    return newest[slot];
}

void shift(const int64_t *restrict times, int64_t *restrict out, int64_t n, int32_t key) {
    int32_t slot = key % SLOTS;
    while (keys[slot] != 0 && keys[slot] != key)
        slot = (slot + 1) % SLOTS;
    keys[slot] = key;
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = times[i] + key;
        most = times[i] > most ? times[i] : most;
    }
    if (most > newest[slot])
        newest[slot] = most;
}
