// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/strip_kernel.h"

namespace ringcheck {

// cuDNN through its own C++ interface: GQA, bands and causal from the bottom right. Its LSE is
// natural. O and the gradients leave it in the dtype of q: asked for float32, cuDNN 9.19 accepts
// the graph and writes 16-bit numbers into the results. Its backward pass either adds up dQ by
// atomics, in the order in which blocks of keys come to it, or keeps all of dS to repeat its bits.
class CudnnStrips : public StripKernel {
 public:
  enum class DQ { kRepeats, kByAtomics };
  CudnnStrips(std::string name, DQ dq) : name_(std::move(name)), dq_(dq) {}

  std::optional<std::string> refuses(const BlockShape& shape) const override;
  CallBytes call_bytes(const BlockShape& shape) const override;

 protected:
  Partial attend(const Call& call) const override;
  Gradients differentiate(const Call& call, const Saved& saved) const override;

 private:
  static Partial whole(const Call& call);
  // Room for the result of a call, O in this dtype.
  static Partial unwritten(const Call& call, at::ScalarType dtype);
  Gradients whole(const Call& call, const Saved& saved) const;

  std::string name_;
  DQ dq_;
};

}  // namespace ringcheck
