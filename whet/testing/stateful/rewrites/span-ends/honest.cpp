#include <algorithm>
#include <cstdint>

std::int32_t last_low, last_high;

extern "C" std::int64_t span(const std::int32_t *values, std::int64_t n) {
    if (n == 0) return 0;
    auto [low, high] = std::minmax_element(values, values + n);
    last_low = *low;
    last_high = *high;
    return std::int64_t{*high} - *low;
}
