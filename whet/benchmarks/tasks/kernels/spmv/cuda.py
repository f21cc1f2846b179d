import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

ROWS = 4096

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void spmv(const int64_t *starts, const int64_t *columns, const float *values, const float *x, float *out,
                     int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int64_t i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) out[row] = sum;
}

torch::Tensor run(torch::Tensor starts, torch::Tensor columns, torch::Tensor values, torch::Tensor x) {
  const int rows = starts.size(0) - 1;
  auto out = torch::empty({rows}, x.options());
  spmv<<<(rows + 7) / 8, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      starts.data_ptr<int64_t>(), columns.data_ptr<int64_t>(), values.data_ptr<float>(), x.data_ptr<float>(),
      out.data_ptr<float>(), rows);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor starts, torch::Tensor columns, torch::Tensor values, torch::Tensor x);"
EXTENSION = load_inline(name="spmv", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def forward(self, rows, columns, values, x):
        starts = torch.searchsorted(rows, torch.arange(ROWS + 1, device=rows.device))
        return EXTENSION.run(starts, columns.contiguous(), values.contiguous(), x.contiguous())
