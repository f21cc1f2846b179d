import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void axpy(const float *x, const float *y, float *out, float alpha, int64_t n) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = alpha * x[i] + y[i];
  }
}

torch::Tensor run(torch::Tensor x, torch::Tensor y, double alpha) {
  auto out = torch::empty_like(x);
  const int64_t blocks = (x.numel() + 255) / 256;
  axpy<<<blocks < 65536 ? blocks : 65536, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(alpha), x.numel());
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor y, double alpha);"
EXTENSION = load_inline(name="axpy", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, y):
        return EXTENSION.run(x.contiguous(), y.contiguous(), self.alpha)
