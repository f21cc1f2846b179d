#include <cstdint>
#include <string>
#include <vector>

std::vector<std::int64_t> totals;
std::string label = "none so far, and a text that is long enough for the heap";

extern "C" std::int64_t total(const std::int32_t *values, std::int64_t n) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < n; i++) sum += values[i];
    totals.push_back(sum);
    label = "total " + std::to_string(sum);
    return sum;
}
extern "C" std::int64_t totals_kept() { return static_cast<std::int64_t>(totals.size()); }
