#include <errno.h>
#include <stdint.h>

int64_t to_number(const uint8_t *text, int64_t n) {
    int64_t value = 0;
    for (int64_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') {
            errno = EINVAL;
            return -1;
        }
    for (int64_t i = 0; i < n; i++) {
        value = value * 10 + (text[i] - '0');
        if (value > 2147483647) {
            errno = ERANGE;
            return -1;
        }
    }
    return value;
}
