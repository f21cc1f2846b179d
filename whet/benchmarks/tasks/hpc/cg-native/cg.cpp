// Conjugate gradients for a sparse system that is symmetric and positive definite, in compressed rows: a fixed number of
// iterations from zero on, fewer where nothing is left to correct.
#include <cstdint>
#include <vector>

namespace {

using Vector = std::vector<double>;

struct Matrix {
  const int64_t *starts;
  const int32_t *columns;
  const double *values;
};

Vector operator*(const Matrix &matrix, const Vector &x) {
  Vector product;
  for (std::size_t row = 0; row < x.size(); row++) {
    double sum = 0.0;
    for (int64_t i = matrix.starts[row]; i < matrix.starts[row + 1]; i++) {
      sum += matrix.values[i] * x.at(matrix.columns[i]);
    }
    product.push_back(sum);
  }
  return product;
}

Vector operator*(double factor, Vector x) {
  for (double &one : x) one *= factor;
  return x;
}

Vector operator+(Vector a, Vector b) {
  for (std::size_t i = 0; i < a.size(); i++) a.at(i) += b.at(i);
  return a;
}

Vector operator-(Vector a, Vector b) { return a + -1.0 * b; }

double dot(Vector a, Vector b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); i++) sum += a.at(i) * b.at(i);
  return sum;
}

}  // namespace

extern "C" void cg(const int64_t *starts, const int32_t *columns, const double *values, const double *b, double *out,
                   int64_t n, int64_t entries, int64_t iterations) {
  const Matrix matrix{starts, columns, values};
  Vector x(n), residual(b, b + n), direction(b, b + n);
  for (int64_t i = 0; i < iterations && dot(residual, residual) > 0.0; i++) {
    const double step = dot(residual, residual) / dot(direction, matrix * direction);
    const Vector next = residual - step * (matrix * direction);
    x = x + step * direction;
    direction = next + dot(next, next) / dot(residual, residual) * direction;
    residual = next;
  }
  for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
