import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__device__ float block_sum(float value) {
  __shared__ float parts[33];
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    float all = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
    for (int step = 16; step; step /= 2) all += __shfl_xor_sync(0xffffffff, all, step);
    if (threadIdx.x == 0) parts[32] = all;
  }
  __syncthreads();
  const float total = parts[32];
  __syncthreads();
  return total;
}

__global__ void rmsnorm(const float *x, const float *weight, float *out, int width) {
  const long start = static_cast<long>(blockIdx.x) * width;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) squares += x[start + i] * x[start + i];
  const float factor = rsqrtf(block_sum(squares) / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[start + i] = x[start + i] * factor * weight[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor weight) {
  auto out = torch::empty_like(x);
  const int width = x.size(-1);
  rmsnorm<<<x.numel() / width, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), out.data_ptr<float>(), width);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor weight);"
EXTENSION = load_inline(
    name="rmsnorm", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x):
        return EXTENSION.run(x.contiguous(), self.weight)
