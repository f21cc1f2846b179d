#include <stdint.h>

int32_t digits_error;

int64_t digit_sum(const uint8_t *text, int64_t n) {
    int64_t sum = 0;
    digits_error = 0;
    for (int64_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            digits_error = 22;
            sum = -1;
        } else if (sum >= 0) {
            sum += text[i] - '0';
        }
    }
    return sum;
}
