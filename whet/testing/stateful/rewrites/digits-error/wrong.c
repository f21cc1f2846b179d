#include <stdint.h>

int32_t digits_error;

int64_t digit_sum(const uint8_t *text, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint8_t digit = text[i] - '0';
        if (digit > 9) return -1;
        sum += digit;
    }
    digits_error = 0;
    return sum;
}
