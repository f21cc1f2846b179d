import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void causal_conv(const float *x, const float *weight, const float *bias, float *out, int channels, int steps,
                            int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y % channels;
  if (i >= steps) return;
  const float *a = x + static_cast<long>(blockIdx.y) * steps;
  float y = bias[channel];
  for (int k = 0; k < taps; k++) {
    const int place = i - (taps - 1 - k);
    if (place >= 0) y += weight[channel * taps + k] * a[place];
  }
  out[static_cast<long>(blockIdx.y) * steps + i] = y / (1.0f + expf(-y));
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  auto out = torch::empty_like(x);
  const dim3 grid((x.size(2) + 255) / 256, x.size(0) * x.size(1));
  causal_conv<<<grid, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), x.size(1),
      x.size(2), weight.size(2));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);"
EXTENSION = load_inline(
    name="causal_conv", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, channels, taps):
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(channels, 1, taps))
        self.bias = nn.Parameter(0.1 * torch.randn(channels))

    def forward(self, x):
        return EXTENSION.run(x.contiguous(), self.weight, self.bias)
