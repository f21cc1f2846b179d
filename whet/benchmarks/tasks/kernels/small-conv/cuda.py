import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void small_conv(const float *x, const float *weight, const float *bias, float *out, int filters, int height,
                           int width) {
  const int rows = (height - 4) / 2, columns = (width - 4) / 2;
  const int i = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y % filters;
  if (i >= rows * columns) return;
  const float *a = x + static_cast<long>(blockIdx.y / filters) * height * width;
  float most = -INFINITY;
  for (int part = 0; part < 4; part++) {
    const int row = i / columns * 2 + part / 2, column = i % columns * 2 + part % 2;
    float sum = 0.0f;
    for (int k = 0; k < 25; k++) sum += weight[f * 25 + k] * a[(row + k / 5) * width + column + k % 5];
    most = fmaxf(most, sum);
  }
  out[static_cast<long>(blockIdx.y) * rows * columns + i] = fmaxf(most + bias[f], 0.0f);
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  const int filters = weight.size(0), height = x.size(2), width = x.size(3);
  auto out = torch::empty({x.size(0), filters, (height - 4) / 2, (width - 4) / 2}, x.options());
  const dim3 grid((out.size(2) * out.size(3) + 127) / 128, x.size(0) * filters);
  small_conv<<<grid, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), filters, height,
      width);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);"
EXTENSION = load_inline(
    name="small_conv", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.weight = nn.Parameter(0.2 * torch.randn(filters, 1, 5, 5))
        self.bias = nn.Parameter(0.1 * torch.randn(filters))

    def forward(self, x):
        return EXTENSION.run(x.contiguous(), self.weight, self.bias)
