#include <stdint.h>

static int64_t found_in_all;

int64_t found_so_far(void) { return found_in_all; }

int64_t found(const int32_t *values, const int32_t *wanted, int64_t n, int64_t m) {
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            if (values[j] == wanted[i]) {
                count++;
                found_in_all++;
                break;
            }
    return count;
}
