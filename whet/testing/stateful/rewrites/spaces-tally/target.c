#include <stdint.h>

struct tally {
    int32_t calls;
    int64_t bytes;
    int16_t shortest;
};

struct tally tally = {0, 0, 32767};

int64_t spaces(const uint8_t *text, int64_t n) {
    tally.calls++;
    tally.bytes += n;
    if (n < tally.shortest) tally.shortest = (int16_t)n;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (text[i] == ' ' || text[i] == '\t') count++;
    return count;
}
