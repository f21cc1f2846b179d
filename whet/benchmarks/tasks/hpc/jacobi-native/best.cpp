#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" double jacobi(double *points, const double *source, int64_t rows, int64_t columns, int64_t sweeps) {
  if (sweeps == 0 || rows < 3 || columns < 3) return 0.0;
  std::vector<double> spare(points, points + rows * columns);
  double *from = points, *to = spare.data();
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    for (int64_t row = 1; row + 1 < rows; row++) {
      const double *__restrict here = from + row * columns, *__restrict given = source + row * columns;
      const double *__restrict above = here - columns, *__restrict below = here + columns;
      double *__restrict out = to + row * columns;
      for (int64_t i = 1; i + 1 < columns; i++) {
        out[i] = (above[i] + below[i] + here[i - 1] + here[i + 1]) * 0.25 + given[i];
      }
    }
    std::swap(from, to);
  }
  // The change is asked of the last sweep alone: both of its grids are still there.
  double changes[8] = {};
  for (int64_t row = 1; row + 1 < rows; row++) {
    const double *one = from + row * columns, *other = to + row * columns;
    int64_t i = 1;
    for (; i + 8 < columns; i += 8) {
      for (int k = 0; k < 8; k++) changes[k] = std::max(changes[k], std::fabs(one[i + k] - other[i + k]));
    }
    for (; i + 1 < columns; i++) changes[0] = std::max(changes[0], std::fabs(one[i] - other[i]));
  }
  if (from != points) std::copy(from, from + rows * columns, points);
  return *std::max_element(changes, changes + 8);
}
