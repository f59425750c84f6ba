// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "cp/attention/kv_block.h"
#include "cp/attention/partial.h"
#include "cp/attention/scores.h"
#include "cp/layout/visibility.h"
#include "cp/registry.h"

namespace ringcheck {

// Everything a kernel may want to know before it agrees to compute a block.
struct BlockShape {
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  int64_t batch = 1, q_heads = 1, kv_heads = 1, dim = 1, dim_v = 1;
  Visibility visibility = {};  // mask and positions of both sides
  bool deterministic = true;
  double scale = 1;
};

// Bytes of one call, by pass.
struct CallBytes {
  int64_t forward = 0, backward = 0;
};

// What the backward pass of a block needs from the whole forward pass.
struct Saved {
  at::Tensor o;    // [batch, q_heads, queries, dim_v], final merged output, rounded to the dtype
  at::Tensor lse;  // [batch, q_heads, queries], final
  at::Tensor d;    // [batch, q_heads, queries], sum over channels of d_o * o; undefined where the kernel takes none
  at::Tensor d_o;  // [batch, q_heads, queries, dim_v]

  // Of some entries, heads or queries: what `part` makes of each of them that is defined.
  template <class Part>
  Saved of(const Part& part) const {
    return {part(o), part(lse), d.defined() ? part(d) : d, part(d_o)};
  }
};

// Contributions of one block of keys, in accumulation type, or in the dtype of q of a kernel that
// rounds.
struct Gradients {
  at::Tensor dq;  // [batch, q_heads, queries, dim]
  at::Tensor dk;  // [batch, kv_heads, keys, dim]
  at::Tensor dv;  // [batch, kv_heads, keys, dim_v]
};

// A kernel computes scores in tiles: so many queries against so many key slots.
struct TileSize {
  static constexpr int64_t kWholeBlock = std::numeric_limits<int64_t>::max();
  int64_t queries = kWholeBlock, keys = kWholeBlock;
};

// One device, one block of queries, one block of keys. Query head h reads key-value head
// h / (q_heads / kv_heads). Which keys a query sees, and so whether a block is causal, full, partial
// or empty, says the visibility: of the mask, and of the positions of both sides. Pad slots of the
// inputs must be finite.
//
// Returns finished partial results: LSE is the natural logarithm, -inf (with out = 0) for a query
// that sees none of the keys, in the accumulation type.
class AttentionKernel {
 public:
  virtual ~AttentionKernel() = default;

  // Why this block cannot be computed, or nothing.
  virtual std::optional<std::string> refuses(const BlockShape& shape) const = 0;
  virtual Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                          const Visibility& visibility) const = 0;
  virtual Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved,
                             const Scores& scores, const Visibility& visibility) const = 0;
  // Whether its backward pass is given D, or makes it itself.
  virtual bool takes_d() const { return true; }
  // The most that one call holds at a time of what it allocates, its results included: an upper
  // bound, and on a CPU a close one.
  virtual CallBytes call_bytes(const BlockShape& shape) const = 0;
  // By which tiles it computes: those in which some query sees some key, the slots between the first
  // that any of its queries sees and the last, and no other. It then says of each call how many
  // pairs it computes (cp/ledger/computed.h). Nothing: it does not say.
  virtual std::optional<TileSize> tile_size() const { return std::nullopt; }
};

// What a call returns, and what it holds at most with that much beside it.
CallBytes result_bytes(const BlockShape& shape, int64_t beside = 0);

// What these scores show of the block.
Visibility visibility_of(const QBlock& q, const KvBlock& kv, const Scores& scores);

// Each kernel brings a numerics contract, <name>.contract.json beside its source.
using AttentionKernels = Registry<std::shared_ptr<const AttentionKernel>>;

// Those that libringcheck_cuda.so brings, under their names among the others.
struct CudaKernel {
  std::shared_ptr<const AttentionKernel> kernel;
};
using CudaKernels = Registry<CudaKernel>;

// The names of those that run on a kind of device: that compute a usual block there.
std::vector<std::string> kernels_on(at::DeviceType device);
// The one among them that computes every mask and dtype.
std::string plainest_kernel(at::DeviceType device);

}  // namespace ringcheck
