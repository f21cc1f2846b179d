#include "count.h"

int64_t evens(const int32_t *values, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (values[i] % 2 == 0) {
            count++;
            evens_met++;
        }
    return count;
}
