// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "cp/attention/attention_kernel.h"
#include "cp/ledger/computed.h"

namespace ringcheck {
namespace {

constexpr int64_t kRows = 128;  // queries a tile: memory stays linear in the length

// Some queries against all keys that any of them sees.
struct Rows {
  int64_t row = 0, rows = 0;        // of the query block
  int64_t column = 0, columns = 0;  // of the key block
  at::Tensor hidden;                // [rows, columns], undefined where everything is visible
};

// The tile that begins at `row`; nothing where its queries see no key. Keys that nobody sees are
// left out at both ends.
std::optional<Rows> rows_from(int64_t row, const Visibility& visibility, at::Device device) {
  const int64_t rows = std::min(kRows, count(visibility.queries()) - row);
  const auto [columns, visible] = visibility.tile(row, rows);
  if (columns.size() == 0) return std::nullopt;
  Rows tile{row, rows, columns.begin, columns.size(), {}};
  if (!visible.empty())
    tile.hidden = at::tensor(at::ArrayRef<uint8_t>(visible), at::kByte)
                      .view({rows, columns.size()}).to(at::kBool).logical_not().to(device);
  return tile;
}

template <class Use>
void for_each_tile(const Visibility& visibility, const at::Tensor& q, const Use& use) {
  for (int64_t row = 0; row < count(visibility.queries()); row += kRows)
    if (const auto tile = rows_from(row, visibility, q.device())) {
      add_computed(q.size(0) * q.size(1) * tile->rows * tile->columns);
      use(*tile);
    }
}

// [batch, q_heads, rows, n] as [batch, kv_heads, group * rows, n]: the query heads of one
// key-value head become more rows, so K and V are never expanded.
at::Tensor grouped(const at::Tensor& x, const Rows& tile, int64_t kv_heads, at::ScalarType type) {
  const at::Tensor rows = x.narrow(2, tile.row, tile.rows).to(type);
  return rows.reshape({x.size(0), kv_heads, -1, x.size(3)});
}

at::Tensor ungrouped(const at::Tensor& x, const Rows& tile, int64_t q_heads) {
  return x.view({x.size(0), q_heads, tile.rows, x.size(3)});
}

// What the tensors of one tile hold at most, as for_each_tile() uses them.
CallBytes tile_bytes(const BlockShape& shape, int64_t rows, int64_t columns, bool hides) {
  const bool narrow = accumulation_type(shape.dtype) != shape.dtype;
  const bool some = rows < count(shape.visibility.queries());
  const int64_t wide = c10::elementSize(accumulation_type(shape.dtype));
  const int64_t line = shape.batch * shape.q_heads * rows * wide, scores = line * columns;
  const int64_t keys = shape.batch * shape.kv_heads * columns * wide;
  const int64_t hidden = hides ? rows * columns : 0;
  // Where a group of heads becomes rows, and where the dtype changes, grouped() is a copy.
  const int64_t lines = shape.q_heads != shape.kv_heads && some ? line : 0;
  const int64_t copied = narrow ? line : lines;
  const int64_t taken = copied * (shape.dim + shape.dim_v);
  return {hidden + std::max({2 * hidden, copied * shape.dim + scores,
                             2 * scores + 2 * line * (shape.dim_v + 2) + line / wide}),
          hidden + std::max({2 * hidden, taken + scores + std::max(lines, keys * shape.dim_v),
                             taken + 2 * scores +
                                 std::max({lines, keys * shape.dim, line * shape.dim})})};
}

// Of the tiles of a block the most, pass by pass. Keys in no order may all be seen.
CallBytes largest_tile(const BlockShape& shape) {
  const Visibility& visibility = shape.visibility;
  const int64_t queries = count(visibility.queries()), keys = count(visibility.keys());
  CallBytes most;
  for (int64_t row = 0; row < queries; row += kRows) {
    const int64_t rows = std::min(kRows, queries - row);
    SlotRange columns{0, keys};
    int64_t pairs = 0;
    if (visibility.keys().ascending()) {
      columns = {keys, 0};
      for (int64_t i = row; i < row + rows; ++i) {
        const SlotRange& seen = visibility.slots()[i];
        pairs += seen.size();
        if (seen.size() > 0)
          columns = {std::min(columns.begin, seen.begin), std::max(columns.end, seen.end)};
      }
    }
    if (columns.size() <= 0) continue;
    const bool hides = pairs < rows * columns.size();
    const CallBytes tile = tile_bytes(shape, rows, columns.size(), hides);
    most = {std::max(most.forward, tile.forward), std::max(most.backward, tile.backward)};
  }
  return most;
}

// Attention written down: scores, softmax over the visible keys, weighted values. Any dtype, any
// mask, any positions; everything is computed in the accumulation type.
class Plain final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (is_floating(shape.dtype)) return std::nullopt;
    return std::string("kernel plain computes float64, float32, bf16 and fp16, not ") +
           c10::toString(shape.dtype);
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    const at::ScalarType type = accumulation_type(kv.shape.dtype);
    const at::Tensor k = kv.k().to(type), v = kv.v().to(type);
    auto sizes = q.q.sizes().vec();
    sizes.back() = kv.shape.dim_v;
    Partial result = Partial::identity(sizes, q.q.options());
    for_each_tile(visibility, q.q, [&](const Rows& tile) {
      const at::Tensor s = products(grouped(q.q, tile, kv.shape.heads, type), k, tile, scores.scale);
      const at::Tensor top = s.amax(-1, true);
      const at::Tensor shift = top.masked_fill(top.isneginf(), 0);
      const at::Tensor p = (s - shift).exp_();
      const at::Tensor sum = p.sum(-1, true);
      const at::Tensor values = v.narrow(2, tile.column, tile.columns);
      const at::Tensor blind = sum == 0;  // +0 there, also where a product of zeros is -0
      const at::Tensor out =
          (at::matmul(p, values) / sum.masked_fill(blind, 1)).masked_fill_(blind, 0);
      const int64_t heads = q.q.size(1);
      result.out.narrow(2, tile.row, tile.rows).copy_(ungrouped(out, tile, heads));
      result.lse.narrow(2, tile.row, tile.rows)
          .copy_(ungrouped(sum.log().add_(shift), tile, heads).squeeze(-1));
    });
    return result;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const at::ScalarType type = accumulation_type(kv.shape.dtype);
    const at::Tensor k = kv.k().to(type), v = kv.v().to(type);
    const int64_t kv_heads = kv.shape.heads;
    const at::Tensor unseen = saved.lse.isneginf();
    const at::Tensor lse = saved.lse.masked_fill(unseen, INFINITY).unsqueeze(-1);
    Gradients result{at::zeros(q.q.sizes(), q.q.options().dtype(type)), at::zeros_like(k),
                     at::zeros_like(v)};
    for_each_tile(visibility, q.q, [&](const Rows& tile) {
      const at::Tensor queries = grouped(q.q, tile, kv_heads, type);
      const at::Tensor d_o = grouped(saved.d_o, tile, kv_heads, type);
      const at::Tensor keys = k.narrow(2, tile.column, tile.columns);
      const at::Tensor values = v.narrow(2, tile.column, tile.columns);
      const at::Tensor p =
          products(queries, k, tile, scores.scale).sub_(grouped(lse, tile, kv_heads, type)).exp_();
      result.dv.narrow(2, tile.column, tile.columns) += at::matmul(p.transpose(2, 3), d_o);
      const at::Tensor dp = at::matmul(d_o, values.transpose(2, 3));
      const at::Tensor ds =
          dp.sub_(grouped(saved.d.unsqueeze(-1), tile, kv_heads, type)).mul_(p).mul_(scores.scale);
      result.dk.narrow(2, tile.column, tile.columns) += at::matmul(ds.transpose(2, 3), queries);
      result.dq.narrow(2, tile.row, tile.rows)
          .copy_(ungrouped(at::matmul(ds, keys), tile, q.q.size(1)));
    });
    return result;
  }

  std::optional<TileSize> tile_size() const override { return TileSize{kRows, 1}; }

  CallBytes call_bytes(const BlockShape& shape) const override {
    const int64_t wide = c10::elementSize(accumulation_type(shape.dtype));
    const int64_t rows = shape.batch * shape.q_heads * count(shape.visibility.queries());
    const int64_t keys = shape.batch * shape.kv_heads * count(shape.visibility.keys());
    const bool narrow = c10::elementSize(shape.dtype) < static_cast<size_t>(wide);
    const int64_t widened = narrow ? keys * (shape.dim + shape.dim_v) * wide : 0;
    const int64_t lse = rows * (wide + 1);  // of the backward pass, and where it is -inf
    const CallBytes tile = largest_tile(shape), results = result_bytes(shape, widened);
    return {results.forward + tile.forward, results.backward + lse + tile.backward};
  }

 private:
  // [batch, kv_heads, group * rows, columns], -inf where hidden.
  static at::Tensor products(const at::Tensor& queries, const at::Tensor& k, const Rows& tile,
                             double scale) {
    const at::Tensor keys = k.narrow(2, tile.column, tile.columns);
    at::Tensor s = at::matmul(queries, keys.transpose(2, 3)).mul_(scale);
    if (tile.hidden.defined())
      s.view({s.size(0), s.size(1), -1, tile.rows, tile.columns})
          .masked_fill_(tile.hidden, -INFINITY);
    return s;
  }
};

const AttentionKernels::Add registered{"plain", std::make_shared<Plain>()};

}  // namespace
}  // namespace ringcheck
