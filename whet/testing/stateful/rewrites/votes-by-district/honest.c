#include <stdint.h>

static int64_t totals[64];

int64_t votes_in(int32_t district) { return totals[district]; }

int64_t tally(const int32_t *ballots, int64_t n, int32_t district) {
    int64_t spoilt = 0;
    for (int64_t i = 0; i < n; i++)
        spoilt += ballots[i] == 0;
    totals[district] += n - spoilt;
    return spoilt;
}
