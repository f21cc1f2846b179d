import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TILE = 64, DEEP = 16, OWN = 4;  // a block makes TILE x TILE, a thread OWN x OWN of them

__global__ void gemm(const float *a, const float *b, const float *c, float *out, float alpha, float beta, int rows,
                     int inner, int columns) {
  __shared__ float left[DEEP][TILE], right[DEEP][TILE];
  const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  const int y = threadIdx.x / (TILE / OWN) * OWN, x = threadIdx.x % (TILE / OWN) * OWN;
  float sums[OWN][OWN] = {};
  for (int start = 0; start < inner; start += DEEP) {
    for (int i = threadIdx.x; i < TILE * DEEP; i += blockDim.x) {
      const int high = i / DEEP, deep = i % DEEP;
      const bool inside = row + high < rows && start + deep < inner;
      left[deep][high] = inside ? a[static_cast<int64_t>(row + high) * inner + start + deep] : 0.0f;
    }
    for (int i = threadIdx.x; i < TILE * DEEP; i += blockDim.x) {
      const int deep = i / TILE, wide = i % TILE;
      const bool inside = start + deep < inner && column + wide < columns;
      right[deep][wide] = inside ? b[static_cast<int64_t>(start + deep) * columns + column + wide] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < DEEP; k++) {
      for (int i = 0; i < OWN; i++) {
        for (int j = 0; j < OWN; j++) sums[i][j] += left[k][y + i] * right[k][x + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < OWN; i++) {
    for (int j = 0; j < OWN; j++) {
      if (row + y + i >= rows || column + x + j >= columns) continue;
      const int64_t at = static_cast<int64_t>(row + y + i) * columns + column + x + j;
      out[at] = alpha * sums[i][j] + beta * c[at];
    }
  }
}

torch::Tensor run(torch::Tensor a, torch::Tensor b, torch::Tensor c, double alpha, double beta) {
  auto out = torch::empty_like(c);
  const dim3 grid((c.size(1) + TILE - 1) / TILE, (c.size(0) + TILE - 1) / TILE);
  gemm<<<grid, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(alpha),
      static_cast<float>(beta), a.size(0), a.size(1), c.size(1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor a, torch::Tensor b, torch::Tensor c, double alpha, double beta);"
EXTENSION = load_inline(name="gemm", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, a, b, c):
        return EXTENSION.run(a.contiguous(), b.contiguous(), c.contiguous(), self.alpha, self.beta)
