#include <cstdint>

thread_local std::int32_t last_status = -1;

extern "C" std::int64_t first_above(const double *values, std::int64_t n, double bound) {
    std::int64_t found = -1;
    for (std::int64_t i = n - 1; i >= 0; i--)
        if (values[i] > bound) found = i;
    last_status = found < 0 ? 2 : 0;
    return found;
}
