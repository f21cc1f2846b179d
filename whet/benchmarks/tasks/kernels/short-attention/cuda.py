import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int TOKENS = 32, WIDTH = 32;

__global__ void short_attention(const float *q, const float *k, const float *v, float *out, float scale) {
  __shared__ float queries[TOKENS][WIDTH + 1], keys[TOKENS][WIDTH + 1], values[TOKENS][WIDTH + 1];
  const long base = static_cast<long>(blockIdx.x) * TOKENS * WIDTH;
  const int lane = threadIdx.x, i = threadIdx.y;  // a warp a query
  queries[i][lane] = q[base + i * WIDTH + lane];
  keys[i][lane] = k[base + i * WIDTH + lane];
  values[i][lane] = v[base + i * WIDTH + lane];
  __syncthreads();
  float score = 0.0f;
  for (int d = 0; d < WIDTH; d++) score += queries[i][d] * keys[lane][d];
  score = lane <= i ? score * scale : -INFINITY;
  float most = score;
  for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  const float e = expf(score - most);
  float sum = e;
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  float total = 0.0f;
  for (int j = 0; j < TOKENS; j++) total += __shfl_sync(0xffffffff, e, j) * values[j][lane];
  out[base + i * WIDTH + lane] = total / sum;
}

torch::Tensor run(torch::Tensor q, torch::Tensor k, torch::Tensor v, double scale) {
  auto out = torch::empty_like(q);
  short_attention<<<q.size(0), dim3(WIDTH, TOKENS), 0, c10::cuda::getCurrentCUDAStream()>>>(
      q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), out.data_ptr<float>(), scale);
  return out;
}
"""
CPP = "torch::Tensor run(torch::Tensor q, torch::Tensor k, torch::Tensor v, double scale);"
EXTENSION = load_inline(
    name="short_attention", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        return EXTENSION.run(q.contiguous(), k.contiguous(), v.contiguous(), q.shape[-1] ** -0.5)
