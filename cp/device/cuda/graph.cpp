// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "cp/device/device_graph.h"

namespace ringcheck {
namespace {

class CudaGraph final : public DeviceGraph {
 public:
  // Threads of NCCL call what a stricter mode forbids.
  explicit CudaGraph(const std::function<void()>& work) {
    graph_.capture_begin(pool_, cudaStreamCaptureModeRelaxed);
    try {
      work();
      graph_.capture_end();
    } catch (...) {
      give_up();
      throw;
    }
  }
  void replay() override { graph_.replay(); }

 private:
  // Where the end of a capture fails, too, LibTorch's allocator goes on handing out the graph's memory.
  void give_up() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      try {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool_);
        c10::cuda::CUDACachingAllocator::releasePool(c10::cuda::current_device(), pool_);
      } catch (const std::exception&) {  // it had ended
      }
    }
  }

  const c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  at::cuda::CUDAGraph graph_;
};

const DeviceGraphs::Add registered{"cuda", [](const std::function<void()>& work) {
  return std::make_unique<CudaGraph>(work);
}};

}  // namespace
}  // namespace ringcheck
