#pragma once
#include <vector>

int NO_INLINE correctCountEven(std::vector<Number> const& x) {
    int count = 0;
    for (auto one : x) count += one.value % 2 == 0;
    return count;
}
