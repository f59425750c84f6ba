// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/wrong_kernels.h"

#include <ATen/ATen.h>

#include <memory>

namespace ringcheck {
namespace {

// Passes everything on; what is wrong is overridden.
class Wrapped : public AttentionKernel {
 public:
  Wrapped(std::shared_ptr<const AttentionKernel> right, Positions victim)
      : right_(std::move(right)), victim_(std::move(victim)) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return right_->refuses(shape);
  }
  int64_t workspace_bytes(const BlockShape& shape) const override {
    return right_->workspace_bytes(shape);
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    return right_->forward(q, kv, mask, scale);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    return right_->backward(q, kv, saved, mask, scale);
  }

 protected:
  // The block of one rank, on the others.
  bool hit(const QBlock& q, const KvBlock& kv) const {
    return kv.positions == victim_ && q.positions != victim_;
  }

 private:
  std::shared_ptr<const AttentionKernel> right_;
  Positions victim_;
};

class Lost final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    Partial part = Wrapped::forward(q, kv, mask, scale);
    if (hit(q, kv)) part.out.zero_(), part.lse.fill_(-INFINITY);
    return part;
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    Gradients part = Wrapped::backward(q, kv, saved, mask, scale);
    if (hit(q, kv)) part.dq.zero_(), part.dk.zero_(), part.dv.zero_();
    return part;
  }
};

class Twice final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    const Partial part = Wrapped::forward(q, kv, mask, scale);
    return hit(q, kv) ? merge(part, part) : part;
  }
};

// The block before it once more, at the positions of the one that should have come.
class Stale final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    const at::Tensor before = last_;
    last_ = kv.packed.clone();
    return Wrapped::forward(q, hit(q, kv) && before.defined() ? with(kv, before) : kv, mask, scale);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    const at::Tensor before = last_;
    last_ = kv.packed.clone();
    return Wrapped::backward(q, hit(q, kv) && before.defined() ? with(kv, before) : kv, saved, mask, scale);
  }

 private:
  static KvBlock with(KvBlock kv, const at::Tensor& packed) {
    kv.packed = packed;
    return kv;
  }
  mutable at::Tensor last_;
};

// Queries sit one position off, but keep their tokens.
template <int kShift>
class Shifted final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    return Wrapped::forward(shifted(q), kv, mask, scale);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    return Wrapped::backward(shifted(q), kv, saved, mask, scale);
  }

 private:
  static QBlock shifted(QBlock q) {
    for (Run& run : q.positions) run.begin += kShift;
    return q;
  }
};

// A key and value of zeros beside those of one block.
class Leak final : public Wrapped {
 public:
  using Wrapped::Wrapped;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale) const override {
    const Partial part = Wrapped::forward(q, kv, mask, scale);
    if (!hit(q, kv)) return part;
    return merge(part, {at::zeros_like(part.out), at::zeros_like(part.lse)});
  }
};

template <class Kernel>
WrongSubject with_kernel(const char* name) {
  return {name, [](Communicator& comm, const parity::Case& test, const parity::RankInput& input) {
            ContextParallel::Options parts = parity::options_of(test);
            parts.plan.kernel = std::make_shared<Kernel>(parts.plan.kernel, parts.plan.layout.at(0));
            return parity::context_parallel_with(parts, comm, test, input);
          }};
}

}  // namespace

std::vector<WrongSubject> wrong_subjects() {
  return {with_kernel<Lost>("block lost"),          with_kernel<Twice>("block twice"),
          with_kernel<Stale>("block stale"),        with_kernel<Shifted<-1>>("mask one too narrow"),
          with_kernel<Shifted<1>>("mask one too wide"), with_kernel<Leak>("key of zeros leaks")};
}

}  // namespace ringcheck
