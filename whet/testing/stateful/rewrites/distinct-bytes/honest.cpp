#include <cstdint>
#include <cstring>

static int64_t counts[256];

extern "C" int64_t distinct(const uint8_t *values, int64_t n) {
    std::memset(counts, 0, sizeof counts);
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        if (counts[values[i]]++ == 0) found++;
    return found;
}
