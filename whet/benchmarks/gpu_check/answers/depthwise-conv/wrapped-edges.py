import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void depthwise(const float *x, const float *weight, const float *scale, const float *shift, float *out,
                          int channels, int height, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= height * width) return;
  const int channel = blockIdx.y % channels;
  const float *a = x + static_cast<long>(blockIdx.y) * height * width;
  float sum = 0.0f;
  for (int k = 0; k < 9; k++) {
    const int place = i + (k / 3 - 1) * width + k % 3 - 1;
    if (place >= 0 && place < height * width) sum += weight[channel * 9 + k] * a[place];
  }
  const float y = sum * scale[channel] + shift[channel];
  out[static_cast<long>(blockIdx.y) * height * width + i] = fminf(fmaxf(y, 0.0f), 6.0f);
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor scale, torch::Tensor shift) {
  auto out = torch::empty_like(x);
  const int channels = x.size(1), height = x.size(2), width = x.size(3);
  const dim3 grid((height * width + 255) / 256, x.size(0) * channels);
  depthwise<<<grid, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), scale.data_ptr<float>(), shift.data_ptr<float>(),
      out.data_ptr<float>(), channels, height, width);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor scale, torch::Tensor shift);"
EXTENSION = load_inline(
    name="wrapped_edges", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(channels, 1, 3, 3))
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels))
        self.shift = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        return EXTENSION.run(x.contiguous(), self.weight, self.scale, self.shift)
