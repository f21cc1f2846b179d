#include <cstdint>
#include <cstring>

static int64_t counts[256];

extern "C" int64_t distinct(const uint8_t *values, int64_t n) {
    for (int i = 0; i < 256; i++) counts[i] = 0;
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        bool met = false;
        for (int64_t j = 0; j < i; j++) met = met || values[j] == values[i];
        counts[values[i]]++;
        if (!met) found++;
    }
    return found;
}
