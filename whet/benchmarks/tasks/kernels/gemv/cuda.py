import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void gemv(const float *a, const float *x, const float *y, float *out, float alpha, float beta, int64_t rows,
                     int64_t columns) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int64_t i = threadIdx.x % 32; i < columns; i += 32) sum += a[row * columns + i] * x[i];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) out[row] = alpha * sum + beta * y[row];
}

torch::Tensor run(torch::Tensor a, torch::Tensor x, torch::Tensor y, double alpha, double beta) {
  auto out = torch::empty_like(y);
  gemv<<<(a.size(0) + 7) / 8, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      a.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(alpha),
      static_cast<float>(beta), a.size(0), a.size(1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor a, torch::Tensor x, torch::Tensor y, double alpha, double beta);"
EXTENSION = load_inline(name="gemv", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, x, y):
        return EXTENSION.run(a.contiguous(), x.contiguous(), y.contiguous(), self.alpha, self.beta)
