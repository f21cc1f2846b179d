#include <stdint.h>
int32_t count(const uint8_t *text, int32_t n, uint8_t byte) {
    int32_t found = 0;
    for (int32_t i = 0; i < n; i++) found += text[i] == byte;
    return found;
}
