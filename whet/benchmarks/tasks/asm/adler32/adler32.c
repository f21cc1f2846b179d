#include <stdint.h>

#define BASE 65521u
#define MOST 5552 /* bytes after which the sums might not fit in 32 bits */

uint32_t adler32(const uint8_t *data, int64_t n) {
    uint32_t a = 1, b = 0;
    while (n > 0) {
        int64_t run = n < MOST ? n : MOST;
        for (int64_t i = 0; i < run; i++) {
            a += data[i];
            b += a;
        }
        a %= BASE;
        b %= BASE;
        data += run;
        n -= run;
    }
    return b << 16 | a;
}
