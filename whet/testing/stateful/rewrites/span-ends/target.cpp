#include <cstdint>

std::int32_t last_low, last_high;

extern "C" std::int64_t span(const std::int32_t *values, std::int64_t n) {
    if (n == 0) return 0;
    std::int64_t best = 0;
    for (std::int64_t i = 0; i < n; i++)
        for (std::int64_t j = 0; j < n; j++) {
            std::int64_t apart = std::int64_t{values[i]} - values[j];
            if (apart >= best) best = apart, last_high = values[i], last_low = values[j];
        }
    return best;
}
