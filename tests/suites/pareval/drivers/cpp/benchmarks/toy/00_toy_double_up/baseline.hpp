#pragma once
#include <vector>

void NO_INLINE correctDoubleUp(std::vector<int> const& x, std::vector<int> &y) {
    for (size_t i = 0; i < x.size(); i++) y[i] = 2 * x[i];
}
