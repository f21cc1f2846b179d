#include <stdint.h>

int64_t base64_encode(const uint8_t *in, int64_t n, uint8_t *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int64_t i = 0, o = 0;
    for (; i + 2 < n; i += 3) {
        uint32_t group = (uint32_t)(in[i] << 16 | in[i + 1] << 8 | in[i + 2]);
        out[o++] = (uint8_t)letters[group >> 18];
        out[o++] = (uint8_t)letters[group >> 12 & 63];
        out[o++] = (uint8_t)letters[group >> 6 & 63];
        out[o++] = (uint8_t)letters[group & 63];
    }
    if (i < n) {
        uint32_t group = (uint32_t)(in[i] << 16 | (i + 1 < n ? in[i + 1] << 8 : 0));
        out[o++] = (uint8_t)letters[group >> 18];
        out[o++] = (uint8_t)letters[group >> 12 & 63];
        out[o++] = i + 1 < n ? (uint8_t)letters[group >> 6 & 63] : '=';
        out[o++] = '=';
    }
    return o;
}
