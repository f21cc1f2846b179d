// Sweeps of Jacobi's method over a plate: each inner point becomes the mean of its four neighbours and its source.
// Returns the largest change in the last sweep.
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

class Grid {
 public:
  Grid(const double *from, int64_t rows, int64_t columns) : columns_(columns), points_(from, from + rows * columns) {}

  double get(int64_t row, int64_t column) const { return points_.at(row * columns_ + column); }
  void set(int64_t row, int64_t column, double value) { points_.at(row * columns_ + column) = value; }

 private:
  int64_t columns_;
  std::vector<double> points_;
};

double average(const Grid &grid, int64_t row, int64_t column) {
  return (grid.get(row - 1, column) + grid.get(row + 1, column) + grid.get(row, column - 1) + grid.get(row, column + 1)) / 4;
}

}  // namespace

extern "C" double jacobi(double *points, const double *source, int64_t rows, int64_t columns, int64_t sweeps) {
  Grid grid(points, rows, columns);
  double change = 0.0;
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    const Grid old = grid;
    change = 0.0;
    for (int64_t column = 1; column + 1 < columns; column++) {
      for (int64_t row = 1; row + 1 < rows; row++) {
        grid.set(row, column, average(old, row, column) + source[row * columns + column]);
        const double moved = std::fabs(grid.get(row, column) - old.get(row, column));
        if (moved > change) change = moved;
      }
    }
  }
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t column = 0; column < columns; column++) points[row * columns + column] = grid.get(row, column);
  }
  return change;
}
