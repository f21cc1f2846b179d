import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void bias_gelu(const float *x, const float *bias, float *out, long count, int width) {
  for (long i = threadIdx.x; i < count; i += 32) {
    const float y = x[i] + bias[i % width];
    const float inner = 0.7978845608028654f * (y + 0.044715f * y * y * y);
    out[i] = y / (1.0f + expf(-2.0f * inner));
  }
}

torch::Tensor run(torch::Tensor x, torch::Tensor bias) {
  auto out = torch::empty_like(x);
  bias_gelu<<<1, 32, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), x.numel(), x.size(-1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor bias);"
EXTENSION = load_inline(
    name="one_warp", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        return EXTENSION.run(x.contiguous(), self.bias)
