// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"

namespace ringcheck {
namespace {

// The name of a kernel that libringcheck_cuda.so brings, which is loaded when it is first used.
class OnCuda final : public AttentionKernel {
 public:
  explicit OnCuda(std::string name) : name_(std::move(name)) {}

  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (!shape.device.is_cuda()) return "kernel " + name_ + " runs on device cuda only";
    if (why_no_cuda()) return why_no_cuda();
    if (!shape.visibility.keys().ascending())
      return "kernel " + name_ + " needs keys in ascending order of their positions";
    return loaded().refuses(shape);
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    return loaded().forward(q, kv, scores, visibility);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    return loaded().backward(q, kv, saved, scores, visibility);
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    return loaded().call_bytes(shape);
  }
  bool takes_d() const override { return why_no_cuda() || loaded().takes_d(); }
  std::optional<TileSize> tile_size() const override {
    return why_no_cuda() ? std::nullopt : loaded().tile_size();
  }

 private:
  const AttentionKernel& loaded() const { return *CudaKernels::at(name_).kernel; }

  std::string name_;
};

AttentionKernels::Add add(const char* name) { return {name, std::make_shared<OnCuda>(name)}; }

// By the names of the sources: kernels/cuda/aten_cudnn_kernel.cpp is "aten-cudnn".
const AttentionKernels::Add registered[] = {RINGCHECK_CUDA_KERNELS};

}  // namespace
}  // namespace ringcheck
