import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void spmm(const int64_t *starts, const int64_t *sources, const float *weights, const float *features,
                     float *out, int width) {
  const int64_t node = blockIdx.x;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float sum = 0.0f;
    for (int64_t e = starts[node]; e < starts[node + 1]; e++) sum += weights[e] * features[sources[e] * width + i];
    out[node * width + i] = sum;
  }
}

torch::Tensor run(torch::Tensor starts, torch::Tensor sources, torch::Tensor weights, torch::Tensor features) {
  auto out = torch::empty_like(features);
  spmm<<<features.size(0), 64, 0, c10::cuda::getCurrentCUDAStream()>>>(
      starts.data_ptr<int64_t>(), sources.data_ptr<int64_t>(), weights.data_ptr<float>(), features.data_ptr<float>(),
      out.data_ptr<float>(), features.size(1));
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor starts, torch::Tensor sources, torch::Tensor weights, torch::Tensor features);"
EXTENSION = load_inline(name="spmm", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def forward(self, sources, targets, weights, features):
        starts = torch.searchsorted(targets, torch.arange(features.shape[0] + 1, device=targets.device))
        return EXTENSION.run(starts, sources.contiguous(), weights.contiguous(), features.contiguous())
