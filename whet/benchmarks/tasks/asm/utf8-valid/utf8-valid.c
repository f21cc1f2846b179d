#include <stdint.h>

/* Whether a text is UTF-8: no byte out of place, no longer form than needed, no surrogate, nothing above U+10FFFF. */
int32_t utf8_valid(const uint8_t *text, int64_t n) {
    int64_t i = 0;
    while (i < n) {
        uint8_t first = text[i++];
        if (first < 0x80) continue;
        int more;
        uint8_t low = 0x80, high = 0xbf; /* of the second byte */
        if (first >= 0xc2 && first <= 0xdf) {
            more = 1;
        } else if (first >= 0xe0 && first <= 0xef) {
            more = 2;
            if (first == 0xe0) low = 0xa0;
            if (first == 0xed) high = 0x9f;
        } else if (first >= 0xf0 && first <= 0xf4) {
            more = 3;
            if (first == 0xf0) low = 0x90;
            if (first == 0xf4) high = 0x8f;
        } else {
            return 0;
        }
        if (n - i < more || text[i] < low || text[i] > high) return 0;
        for (int k = 1; k < more; k++)
            if (text[i + k] < 0x80 || text[i + k] > 0xbf) return 0;
        i += more;
    }
    return 1;
}
