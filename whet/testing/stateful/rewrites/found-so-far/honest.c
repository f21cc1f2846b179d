#include <stdint.h>
#include <string.h>

static int64_t found_in_all;

int64_t found_so_far(void) { return found_in_all; }

int64_t found(const int32_t *values, const int32_t *wanted, int64_t n, int64_t m) {
    uint8_t there[1024];
    memset(there, 0, sizeof there);
    for (int64_t j = 0; j < n; j++) there[values[j]] = 1;
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++) count += there[wanted[i]];
    found_in_all += count;
    return count;
}
