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

__global__ void layernorm(const float *x, const float *residual, const float *weight, const float *bias, float *out,
                          int width) {
  const long start = static_cast<long>(blockIdx.x) * width;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += x[start + i] + residual[start + i];
  const float mean = block_sum(sum) / width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float centred = x[start + i] + residual[start + i] - mean;
    squares += centred * centred;
  }
  const float factor = rsqrtf(block_sum(squares) / width + 1e-5f);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[start + i] = (x[start + i] + residual[start + i] - mean) * factor * weight[i] + bias[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, torch::Tensor bias) {
  auto out = torch::empty_like(x);
  const int width = x.size(-1);
  layernorm<<<x.numel() / width, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), residual.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
      out.data_ptr<float>(), width);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, torch::Tensor bias);"
EXTENSION = load_inline(
    name="layernorm", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x, residual):
        return EXTENSION.run(x.contiguous(), residual.contiguous(), self.weight, self.bias)
