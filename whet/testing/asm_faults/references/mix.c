#include <stdint.h>
uint64_t mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i, uint64_t j) {
    return a + 3 * b + 5 * c + 7 * d + 9 * e + 11 * f + 13 * g + 15 * h + 17 * i + 19 * j;
}
