// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/cuda/CUDAGraph.h>

#include "cp/device/device_graph.h"

namespace ringcheck {
namespace {

class CudaGraph final : public DeviceGraph {
 public:
  // Threads of NCCL call what a stricter mode forbids.
  explicit CudaGraph(const std::function<void()>& work) {
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeRelaxed);
    try {
      work();
    } catch (...) {
      try {
        graph_.capture_end();
      } catch (const std::exception&) {  // of the work's own error
      }
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

const DeviceGraphs::Add registered{"cuda", [](const std::function<void()>& work) {
  return std::make_unique<CudaGraph>(work);
}};

}  // namespace
}  // namespace ringcheck
