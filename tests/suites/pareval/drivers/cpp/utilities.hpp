#pragma once
#include <cstdlib>
#include <vector>
#ifdef USE_MPI
#include <mpi.h>
#endif
#define NO_OPTIMIZE __attribute__((optimize("O0")))
#define NO_INLINE __attribute__((noinline))

inline void fill(std::vector<int> &x) {
    for (auto &one : x) one = rand() % 1000;
}
