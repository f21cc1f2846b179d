#include <algorithm>
#include <cstdint>

namespace {

constexpr int64_t HIGH = 4, WIDE = 8, DEEP = 256;  // a tile of the product, and the depth of a panel: 16 KiB of b

// Adds a panel's share to HIGH rows of a tile: its sums stay in registers.
void add_tile(const double *a, int64_t inner, const double *panel, int64_t deep, double *c, int64_t columns, int64_t high,
              int64_t wide) {
  double sums[HIGH][WIDE] = {};
  if (high == HIGH) {
    for (int64_t k = 0; k < deep; k++) {
      for (int i = 0; i < HIGH; i++) {
        const double factor = a[i * inner + k];
        for (int j = 0; j < WIDE; j++) sums[i][j] += factor * panel[k * WIDE + j];
      }
    }
  } else {
    for (int64_t i = 0; i < high; i++) {
      for (int64_t k = 0; k < deep; k++) {
        const double factor = a[i * inner + k];
        for (int j = 0; j < WIDE; j++) sums[i][j] += factor * panel[k * WIDE + j];
      }
    }
  }
  for (int64_t i = 0; i < high; i++) {
    for (int64_t j = 0; j < wide; j++) c[i * columns + j] += sums[i][j];
  }
}

}  // namespace

extern "C" void gemm(const double *a, const double *b, double *c, int64_t rows, int64_t inner, int64_t columns) {
  double panel[DEEP * WIDE];
  std::fill(c, c + rows * columns, 0.0);
  for (int64_t first = 0; first < inner; first += DEEP) {
    const int64_t deep = std::min(DEEP, inner - first);
    for (int64_t column = 0; column < columns; column += WIDE) {
      const int64_t wide = std::min(WIDE, columns - column);
      for (int64_t k = 0; k < deep; k++) {
        const double *from = b + (first + k) * columns + column;
        for (int64_t j = 0; j < WIDE; j++) panel[k * WIDE + j] = j < wide ? from[j] : 0.0;
      }
      for (int64_t row = 0; row < rows; row += HIGH) {
        add_tile(a + row * inner + first, inner, panel, deep, c + row * columns + column, columns,
                 std::min(HIGH, rows - row), wide);
      }
    }
  }
}
