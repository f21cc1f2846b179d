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

__global__ void int8_gemv(const int8_t *weight, const float *scale, const float *x, float *out, int inputs) {
  const int8_t *w = weight + static_cast<long>(blockIdx.x) * inputs;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < inputs; i += blockDim.x) sum += static_cast<float>(w[i]) * x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum * scale[blockIdx.x];
}

torch::Tensor run(torch::Tensor weight, torch::Tensor scale, torch::Tensor x) {
  auto out = torch::empty({weight.size(0)}, x.options());
  int8_gemv<<<weight.size(0), 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
      weight.data_ptr<int8_t>(), scale.data_ptr<float>(), x.data_ptr<float>(), out.data_ptr<float>(), weight.size(1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor weight, torch::Tensor scale, torch::Tensor x);"
EXTENSION = load_inline(
    name="int8_gemv", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8))
        self.register_buffer("scale", 0.001 + 0.001 * torch.rand(outputs))

    def forward(self, x):
        return EXTENSION.run(self.weight, self.scale, x.contiguous())
