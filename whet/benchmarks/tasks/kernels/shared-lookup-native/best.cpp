#include <cstdint>

constexpr int TOGETHER = 4;

template <int QUERIES>
static void look(const uint32_t *shares, const uint32_t *table, uint32_t *__restrict out, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < QUERIES * width; i++) out[i] = 0;
  for (int64_t row = 0; row < rows; row++) {
    const uint32_t *values = table + row * width;
    for (int query = 0; query < QUERIES; query++) {
      const uint32_t share = shares[query * rows + row];
      uint32_t *to = out + query * width;
      for (int64_t column = 0; column < width; column++) to[column] += share * values[column];
    }
  }
}

extern "C" void shared_lookup(const uint32_t *shares, const uint32_t *table, uint32_t *out, int64_t queries, int64_t rows,
                              int64_t width) {
  int64_t query = 0;
  for (; query + TOGETHER <= queries; query += TOGETHER)
    look<TOGETHER>(shares + query * rows, table, out + query * width, rows, width);
  for (; query < queries; query++) look<1>(shares + query * rows, table, out + query * width, rows, width);
}
