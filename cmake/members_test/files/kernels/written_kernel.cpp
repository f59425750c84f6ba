// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/attention_kernel.h"

namespace ringcheck {
namespace {

// Attention as it is written in papers: one matrix of scores, K and V repeated for every query head.
class Written final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (is_floating(shape.dtype)) return std::nullopt;
    return std::string("kernel written computes float64, float32, bf16 and fp16, not ") +
           c10::toString(shape.dtype);
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    const Block block(q, kv, scores, visibility);
    const at::Tensor top = block.scores.amax(-1, true);
    const at::Tensor shift = top.masked_fill(top.isneginf(), 0);
    const at::Tensor p = (block.scores - shift).exp();
    const at::Tensor sum = p.sum(-1, true), blind = sum == 0;
    return {(at::matmul(p, block.v) / sum.masked_fill(blind, 1)).masked_fill(blind, 0),
            (sum.log() + shift).squeeze(-1)};
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const Block block(q, kv, scores, visibility);
    const at::Tensor lse = saved.lse.masked_fill(saved.lse.isneginf(), INFINITY).unsqueeze(-1);
    const at::Tensor d_o = saved.d_o.to(block.type);
    const at::Tensor p = (block.scores - lse).exp();
    const at::Tensor dp = at::matmul(d_o, block.v.transpose(2, 3));
    const at::Tensor ds = (dp - saved.d.unsqueeze(-1)) * p * scores.scale;
    return {at::matmul(ds, block.k), block.by_key_head(at::matmul(ds.transpose(2, 3), block.q)),
            block.by_key_head(at::matmul(p.transpose(2, 3), d_o))};
  }

  CallBytes call_bytes(const BlockShape& shape) const override {
    const int64_t queries = count(shape.visibility.queries());
    const int64_t keys = count(shape.visibility.keys());
    const int64_t heads = shape.batch * shape.q_heads;
    const int64_t matrices = 8 * heads * queries * keys;
    const int64_t rows = 6 * heads * (queries + keys) * (shape.dim + shape.dim_v + 4);
    return result_bytes(shape, (matrices + rows) * c10::elementSize(accumulation_type(shape.dtype)) +
                                   4 * queries * keys);
  }

 private:
  // What both passes need: everything in the accumulation type, a key-value head a query head.
  struct Block {
    at::ScalarType type;
    int64_t heads;
    at::Tensor q, k, v, scores;

    Block(const QBlock& queries, const KvBlock& kv, const Scores& how, const Visibility& visibility)
        : type(accumulation_type(kv.shape.dtype)), heads(kv.shape.heads), q(queries.q.to(type)) {
      const int64_t group = q.size(1) / heads;
      k = kv.k().to(type).repeat_interleave(group, 1);
      v = kv.v().to(type).repeat_interleave(group, 1);
      scores = at::matmul(q, k.transpose(2, 3)) * how.scale;
      scores.masked_fill_(hidden(visibility).to(q.device()), -INFINITY);
    }
    at::Tensor by_key_head(const at::Tensor& x) const {
      return x.view({x.size(0), heads, -1, x.size(2), x.size(3)}).sum(2);
    }
    static at::Tensor hidden(const Visibility& visibility) {
      const int64_t queries = count(visibility.queries()), keys = count(visibility.keys());
      const auto [columns, seen] = visibility.tile(0, queries);
      at::Tensor hidden = at::ones({queries, keys}, at::kBool);
      if (columns.size() == 0) return hidden;
      at::Tensor part = hidden.narrow(1, columns.begin, columns.size());
      if (seen.empty()) part.fill_(false);
      else part.copy_(at::tensor(at::ArrayRef<uint8_t>(seen), at::kByte).view(part.sizes()) == 0);
      return hidden;
    }
  };
};

const AttentionKernels::Add registered{"written", std::make_shared<Written>()};

}  // namespace
}  // namespace ringcheck
