#include <stdint.h>
#include <string.h>
void shift(uint8_t *to, const uint8_t *from, int64_t n) { memmove(to, from, (size_t)n); }
