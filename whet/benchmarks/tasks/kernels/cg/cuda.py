import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr double TINY = 1e-30;
constexpr int THREADS = 256;

// In double: the order in which so many floats are added differs from launch to launch, and shows in the last digits.
__device__ void add_to(double *total, double value) {
  for (int lanes = 16; lanes; lanes /= 2) value += __shfl_xor_sync(0xffffffff, value, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

__device__ int64_t place() { return static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; }

__global__ void square(const float *r, double *dots, int64_t n) {
  const int64_t i = place();
  add_to(dots, i < n ? r[i] * r[i] : 0.0f);
}

__global__ void times(const float *hold, const float *p, float *q, double *dots, int rows, int columns) {
  const int64_t i = place();
  const int row = i / columns, column = i % columns;
  float share = 0.0f;
  if (row < rows) {
    float around = row > 0 ? p[i - columns] : 0.0f;
    around += row < rows - 1 ? p[i + columns] : 0.0f;
    around += column > 0 ? p[i - 1] : 0.0f;
    around += column < columns - 1 ? p[i + 1] : 0.0f;
    q[i] = (5.0f + hold[i] * hold[i]) * p[i] - around;
    share = p[i] * q[i];
  }
  add_to(dots + 1, share);
}

__global__ void step(float *x, float *r, const float *p, const float *q, double *dots, int64_t n) {
  const int64_t i = place();
  const float length = static_cast<float>(dots[0] / (dots[1] + TINY));
  float left = 0.0f;
  if (i < n) {
    x[i] += length * p[i];
    r[i] = left = r[i] - length * q[i];
  }
  add_to(dots + 2, left * left);
}

__global__ void turn(const float *r, float *p, const double *dots, int64_t n) {
  const int64_t i = place();
  if (i < n) p[i] = r[i] + static_cast<float>(dots[2] / (dots[0] + TINY)) * p[i];
}

torch::Tensor run(torch::Tensor hold, torch::Tensor b, int64_t iterations) {
  auto r = b.clone(), p = b.clone(), x = torch::zeros_like(b), q = torch::empty_like(b);
  auto dots = torch::zeros({2 * iterations + 1}, b.options().dtype(torch::kDouble));
  const int64_t n = b.numel(), blocks = (n + THREADS - 1) / THREADS;
  double *own = dots.data_ptr<double>();
  const auto stream = c10::cuda::getCurrentCUDAStream();
  square<<<blocks, THREADS, 0, stream>>>(r.data_ptr<float>(), own, n);
  for (int64_t i = 0; i < iterations; i++, own += 2) {
    times<<<blocks, THREADS, 0, stream>>>(hold.data_ptr<float>(), p.data_ptr<float>(), q.data_ptr<float>(), own, b.size(0),
                                          b.size(1));
    step<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), r.data_ptr<float>(), p.data_ptr<float>(),
                                         q.data_ptr<float>(), own, n);
    turn<<<blocks, THREADS, 0, stream>>>(r.data_ptr<float>(), p.data_ptr<float>(), own, n);
  }
  return x;
}
"""
CPP = "torch::Tensor run(torch::Tensor hold, torch::Tensor b, int64_t iterations);"
EXTENSION = load_inline(name="cg", cpp_sources=CPP, cuda_sources=CUDA, functions=["run"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, iterations):
        super().__init__()
        self.iterations = iterations

    def forward(self, hold, b):
        return EXTENSION.run(hold.contiguous(), b.contiguous(), self.iterations)
