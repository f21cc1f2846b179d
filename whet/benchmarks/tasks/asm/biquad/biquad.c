#include <stdint.h>

/* A second-order filter at rest at the start; taps are b0, b1, b2, a1, a2, with a0 = 1. */
void biquad(const float *in, float *out, int64_t n, const float *taps) {
    float b0 = taps[0], b1 = taps[1], b2 = taps[2], a1 = taps[3], a2 = taps[4];
    float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int64_t i = 0; i < n; i++) {
        float x = in[i];
        float y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        out[i] = y;
    }
}
