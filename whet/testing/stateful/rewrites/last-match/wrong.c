#include <stddef.h>
#include <stdint.h>
#include <string.h>

const uint8_t *last_match;

int64_t find_pair(const uint8_t *data, int64_t n, uint8_t first, uint8_t second) {
    const uint8_t *place = data, *end = data + n;
    while (end - place >= 2 && (place = memchr(place, first, (size_t)(end - place - 1)))) {
        if (place[1] == second) {
            last_match = place;
            return place - data;
        }
        place++;
    }
    return -1;
}
