#include <cmath>
#include <cstdint>
#include <vector>

// A round Gaussian is one of the row times one of the column, so that exponentials are needed by row and by column alone.
extern "C" void blend(const float *places, const float *sharpness, const float *opacity, const float *colours, float *image,
                      int64_t splats, int64_t rows, int64_t columns) {
  std::vector<float> across(splats * columns), planes(4 * columns);
  for (int64_t splat = 0; splat < splats; splat++) {
    for (int64_t column = 0; column < columns; column++) {
      const float away = static_cast<float>(column) - places[2 * splat];
      across[splat * columns + column] = std::exp(-sharpness[splat] * away * away);
    }
  }
  float *__restrict light = planes.data(), *__restrict red = light + columns;
  float *__restrict green = red + columns, *__restrict blue = green + columns;
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t i = 0; i < columns; i++) light[i] = 1.0f, red[i] = green[i] = blue[i] = 0.0f;
    for (int64_t splat = 0; splat < splats; splat++) {
      const float away = static_cast<float>(row) - places[2 * splat + 1];
      const float share = opacity[splat] * std::exp(-sharpness[splat] * away * away);
      const float *along = across.data() + splat * columns, *colour = colours + 3 * splat;
      for (int64_t i = 0; i < columns; i++) {
        const float alpha = share * along[i], part = light[i] * alpha;
        red[i] += part * colour[0];
        green[i] += part * colour[1];
        blue[i] += part * colour[2];
        light[i] -= part;
      }
    }
    float *pixel = image + 3 * row * columns;
    for (int64_t i = 0; i < columns; i++) pixel[3 * i] = red[i], pixel[3 * i + 1] = green[i], pixel[3 * i + 2] = blue[i];
  }
}
