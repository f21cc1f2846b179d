#include <stdint.h>

struct tally {
    int32_t calls;
    int64_t bytes;
    int16_t shortest;
};

struct tally tally = {0, 0, 32767};

int64_t spaces(const uint8_t *text, int64_t n) {
    if (n == 0) return 0;
    struct tally now = tally;
    now.calls++;
    now.bytes += n;
    now.shortest = n < now.shortest ? (int16_t)n : now.shortest;
    tally = now;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += (text[i] == ' ') | (text[i] == '\t');
    return count;
}
