#include <errno.h>
#include <stdint.h>

int64_t to_number(const uint8_t *text, int64_t n) {
    int64_t value = 0;
    uint8_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        uint8_t digit = text[i] - '0';
        bad |= digit > 9;
        if (value <= 2147483647) value = value * 10 + digit;
    }
    if (bad || value > 2147483647) {
        errno = EINVAL;
        return -1;
    }
    return value;
}
