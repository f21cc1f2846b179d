#include <cstdint>

thread_local std::int32_t last_status = -1;

extern "C" std::int64_t first_above(const double *values, std::int64_t n, double bound) {
    for (std::int64_t i = 0; i < n; i++)
        if (values[i] > bound) {
            return i;
        }
    last_status = 2;
    return -1;
}
