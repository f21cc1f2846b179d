#include <stdint.h>

/* Numbers in groups of seven bits, the lowest first; a set top bit says that another group follows. Bits above the
   64th are dropped, and so is a last number that does not end. Returns how many numbers there are. */
int64_t varint_decode(const uint8_t *in, int64_t n, uint64_t *out) {
    int64_t count = 0;
    uint64_t value = 0;
    unsigned shift = 0;
    for (int64_t i = 0; i < n; i++) {
        if (shift < 64) value |= (uint64_t)(in[i] & 0x7f) << shift;
        shift += 7;
        if (in[i] < 0x80) {
            out[count++] = value;
            value = 0;
            shift = 0;
        }
    }
    return count;
}
