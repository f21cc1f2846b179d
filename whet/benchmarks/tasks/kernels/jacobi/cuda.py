import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <utility>

__global__ void jacobi(const float *grid, const float *source, float *out, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int64_t at = static_cast<int64_t>(row) * columns + column;
  if (row == 0 || column == 0 || row == rows - 1 || column == columns - 1) {
    out[at] = grid[at];
  } else {
    out[at] = 0.25f * (grid[at - columns] + grid[at + columns] + grid[at - 1] + grid[at + 1]) + source[at];
  }
}

torch::Tensor run(torch::Tensor grid, torch::Tensor source, int64_t sweeps) {
  const int rows = grid.size(0), columns = grid.size(1);
  auto from = grid, to = torch::empty_like(grid), spare = torch::empty_like(grid);
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    const dim3 blocks((columns + 63) / 64, (rows + 3) / 4);
    jacobi<<<blocks, dim3(64, 4), 0, c10::cuda::getCurrentCUDAStream()>>>(
        from.data_ptr<float>(), source.data_ptr<float>(), to.data_ptr<float>(), rows, columns);
    from = to;
    std::swap(to, spare);
  }
  return from;
}
"""
CPP = "torch::Tensor run(torch::Tensor grid, torch::Tensor source, int64_t sweeps);"
EXTENSION = load_inline(name="jacobi", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, sweeps):
        super().__init__()
        self.sweeps = sweeps

    def forward(self, grid, source):
        return EXTENSION.run(grid.contiguous(), source.contiguous(), self.sweeps)
