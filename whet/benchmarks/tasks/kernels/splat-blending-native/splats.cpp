#include <cmath>
#include <cstdint>

// Blends round Gaussian splats into a picture, the nearest first. A splat has a place (across, down), a sharpness, an opacity
// and three colours; what it leaves of the light goes on to those behind it.
extern "C" void blend(const float *places, const float *sharpness, const float *opacity, const float *colours, float *image,
                      int64_t splats, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t column = 0; column < columns; column++) {
      float light = 1.0f, red = 0.0f, green = 0.0f, blue = 0.0f;
      for (int64_t splat = 0; splat < splats; splat++) {
        const float across = static_cast<float>(column) - places[2 * splat];
        const float down = static_cast<float>(row) - places[2 * splat + 1];
        const float alpha = opacity[splat] * std::exp(-sharpness[splat] * (across * across + down * down));
        red += light * alpha * colours[3 * splat];
        green += light * alpha * colours[3 * splat + 1];
        blue += light * alpha * colours[3 * splat + 2];
        light *= 1.0f - alpha;
      }
      float *pixel = image + 3 * (row * columns + column);
      pixel[0] = red;
      pixel[1] = green;
      pixel[2] = blue;
    }
  }
}
