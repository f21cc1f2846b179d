import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void column_energy(const float *x, float *out, int rows, int columns) {
  // One block for all columns, a thread at a time.
  for (int column = 0; column < columns; column++) {
    if (threadIdx.x != column % blockDim.x) continue;
    double sum = 0.0;  // a float that all rows are added to, one by one, errs more than the problem does
    for (int row = 0; row < rows; row++) {
      const float value = x[static_cast<long>(row) * columns + column];
      sum += static_cast<double>(value) * value;
    }
    out[column] = static_cast<float>(sum);
  }
}

torch::Tensor run(torch::Tensor x) {
  auto out = torch::empty({x.size(1)}, x.options());
  column_energy<<<1, 32, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), x.size(0), x.size(1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x);"
EXTENSION = load_inline(
    name="one_thread_a_column", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def forward(self, x):
        return EXTENSION.run(x.contiguous())
