// Sparse matrix in compressed rows times vector.
#include <cstdint>
#include <vector>

namespace {

struct Entry {
  int32_t column;
  double value;
};

class Matrix {
 public:
  Matrix(const int64_t *starts, const int32_t *columns, const double *values, int64_t rows) : rows_(rows) {
    for (int64_t row = 0; row < rows; row++) {
      for (int64_t i = starts[row]; i < starts[row + 1]; i++) rows_[row].push_back(Entry{columns[i], values[i]});
    }
  }

  std::vector<Entry> row(int64_t i) const { return rows_.at(i); }

 private:
  std::vector<std::vector<Entry>> rows_;
};

}  // namespace

extern "C" void spmv(const int64_t *starts, const int32_t *columns, const double *values, const double *x, double *y,
                     int64_t rows, int64_t width, int64_t entries) {
  const Matrix matrix(starts, columns, values, rows);
  for (int64_t row = 0; row < rows; row++) {
    y[row] = 0.0;
    for (const Entry &entry : matrix.row(row)) y[row] += entry.value * x[entry.column];
  }
}
