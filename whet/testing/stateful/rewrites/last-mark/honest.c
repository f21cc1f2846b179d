#include <stdint.h>

static int64_t calls = 1000;
static int64_t marks[64];
static int64_t count;
static int64_t longest = 1000;

int64_t last_mark(void) { return marks[count % 64 - 1]; }

int64_t marked(const uint8_t *text, int64_t n) {
    int64_t before = count;
    calls++;
    if (n > longest) longest = n + calls;
    for (int64_t i = 0; i < n; i++) {
        if (text[i] != 7) continue;
        marks[count % 64] = i + 1;
        count++;
    }
    return count - before;
}
