// Updates of vectors, written with a class whose operators return new vectors.
#include <cstdint>
#include <vector>

namespace {

class Vector {
 public:
  explicit Vector(int64_t length) : elements_(length) {}
  Vector(const double *from, int64_t length) : elements_(from, from + length) {}

  int64_t length() const { return static_cast<int64_t>(elements_.size()); }
  double &operator[](int64_t i) { return elements_.at(i); }
  double operator[](int64_t i) const { return elements_.at(i); }

 private:
  std::vector<double> elements_;
};

Vector operator*(double factor, const Vector &vector) {
  Vector scaled(vector.length());
  for (int64_t i = 0; i < vector.length(); i++) scaled[i] = factor * vector[i];
  return scaled;
}

Vector operator+(const Vector &one, const Vector &other) {
  Vector sum(one.length());
  for (int64_t i = 0; i < one.length(); i++) sum[i] = one[i] + other[i];
  return sum;
}

}  // namespace

extern "C" void axpy(double alpha, const double *x, double *y, int64_t n) {
  const Vector result = alpha * Vector(x, n) + Vector(y, n);
  for (int64_t i = 0; i < n; i++) y[i] = result[i];
}
