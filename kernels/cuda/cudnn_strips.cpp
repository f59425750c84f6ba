// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cudnn_strips.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernels/cuda/cudnn_graph.h"
#include "kernels/rows.h"
#include "kernels/squares.h"

namespace ringcheck {
namespace {

constexpr int64_t kTile = 128;
// What all of dS, in 16 bits, may take at a time: heads are computed one after the other beyond it.
constexpr int64_t kMostScoreBytes = int64_t{16} << 30;

int64_t score_bytes(int64_t rows, int64_t columns) {
  return 2 * whole_tiles(rows, kTile) * whole_tiles(columns, kTile);
}

// The keys before the diagonal of a causal strip, which a mirrored one becomes, and those on it, are computed apart:
// faster.
int64_t before_diagonal(const Strip& strip) {
  const bool triangle = strip.kind == Strip::Kind::kCausal || strip.kind == Strip::Kind::kMirrored;
  return triangle ? strip.columns - strip.rows : 0;
}

// With the strides of its sizes, also where a size is 1 and contiguous() would leave any.
at::Tensor packed(const at::Tensor& x) { return at::empty(x.sizes(), x.options()).copy_(x); }

// One call, or, where its dS would be too large, one for each half of the heads or of the batch.
void in_parts(const CudnnCall& call, const CudnnSaved& saved, const CudnnGradients& result, bool repeats) {
  const int64_t batch = call.q.size(0), heads = call.k.size(1);
  const int64_t bytes = batch * call.q.size(1) * score_bytes(call.q.size(2), call.k.size(2));
  if (!repeats || bytes <= kMostScoreBytes || batch * heads == 1)
    return cudnn_backward(call, saved, result, repeats);
  const int64_t dim = heads > 1 ? 1 : 0, all = dim == 1 ? heads : batch;
  for (const auto& [begin, count] : {std::pair(int64_t{0}, all / 2), std::pair(all / 2, all - all / 2)}) {
    const auto some = [&, begin = begin, count = count](const at::Tensor& x) { return x.narrow(dim, begin, count); };
    in_parts({call.strip, call.scale, some(call.q), some(call.k), some(call.v)},
             {some(saved.o), packed(some(saved.lse)), some(saved.d_o)},
             {some(result.dq), some(result.dk), some(result.dv)}, repeats);
  }
}

}  // namespace

std::optional<std::string> CudnnStrips::refuses(const BlockShape& shape) const {
  if (auto refused = cudnn_refuses(name_, shape)) return refused;
  for (const Strip& strip : shape.visibility.strips()) {
    if (strip.rows == 1 && strip.columns == 1)
      return "kernel " + name_ + " does not compute one query with one key; use kernel fa2 or tiled";
    const int64_t before = before_diagonal(strip);
    const int64_t bytes = score_bytes(strip.rows, std::max(before, strip.columns - before));
    if (dq_ == DQ::kRepeats && bytes > kMostScoreBytes)
      return "kernel " + name_ + " repeats its bits by keeping dS, " + std::to_string(bytes >> 30) +
             " GiB for a head of " + std::to_string(strip.rows) + " queries, at most " +
             std::to_string(kMostScoreBytes >> 30) + "; use kernel cudnn-atomic or wgmma";
  }
  return std::nullopt;
}

// The pass that repeats its bits keeps all of dS, of as many heads as it takes at a time.
CallBytes CudnnStrips::call_bytes(const BlockShape& shape) const {
  CallBytes bytes = StripKernel::call_bytes(shape);
  if (dq_ == DQ::kByAtomics) return bytes;
  const int64_t head = score_bytes(count(shape.visibility.queries()), count(shape.visibility.keys()));
  bytes.backward += std::min(shape.batch * shape.q_heads * head, std::max(kMostScoreBytes, head));
  return bytes;
}

// A long triangle goes by squares on its diagonal, each beside the rectangle of all keys before it: two partial results
// a row, merged in float32.
Partial CudnnStrips::attend(const Call& call) const {
  const bool causal = call.strip.kind == Strip::Kind::kCausal;
  const int64_t bytes_of_token = (call.k.size(3) + call.v.size(3)) * call.k.element_size();
  const std::vector<Square> squares = squares_of(causal ? call.strip.rows : 0, bytes_of_token);
  if (squares.size() == 1) return whole(call);
  const Partial all = unwritten(call, at::kFloat);
  for (const auto& [begin, rows] : squares) {
    const int64_t before = before_diagonal(call.strip) + begin;
    const auto of_rows = [begin = begin, rows = rows](const at::Tensor& x) { return x.narrow(2, begin, rows); };
    const auto part = [&, rows = rows](Strip::Kind kind, int64_t column, int64_t columns) {
      return whole({{kind, 0, rows, 0, columns, 0}, call.scale, of_rows(call.q), call.k.narrow(2, column, columns),
                    call.v.narrow(2, column, columns)});
    };
    const Partial square = part(Strip::Kind::kCausal, before, rows), sum{of_rows(all.out), of_rows(all.lse)};
    if (before > 0) {
      merge_into(sum, part(Strip::Kind::kFull, 0, before), square);
    } else {
      sum.out.copy_(square.out);
      sum.lse.copy_(square.lse);
    }
  }
  return all;
}

Partial CudnnStrips::whole(const Call& call) {
  const Partial all = unwritten(call, call.q.scalar_type());
  cudnn_forward({call.strip, call.scale, call.q, call.k, call.v}, all.out, all.lse);
  return all;
}

Partial CudnnStrips::unwritten(const Call& call, at::ScalarType dtype) {
  auto sizes = call.q.sizes().vec();
  sizes.back() = call.v.size(3);
  const auto options = call.q.options();
  return {at::empty(sizes, options.dtype(dtype)),
          at::empty({sizes[0], sizes[1], sizes[2]}, options.dtype(at::kFloat))};
}

Gradients CudnnStrips::differentiate(const Call& call, const Saved& saved) const {
  const int64_t before = before_diagonal(call.strip);
  if (before == 0) return whole(call, saved);
  const auto columns = [&](Strip::Kind kind, int64_t begin, int64_t size) {
    Call part = call;
    part.strip = {kind, call.strip.row, call.strip.rows, call.strip.column + begin, size, 0};
    part.k = call.k.narrow(2, begin, size);
    part.v = call.v.narrow(2, begin, size);
    return part;
  };
  const Gradients rectangle = whole(columns(Strip::Kind::kFull, 0, before), saved);
  const Gradients square = whole(columns(Strip::Kind::kCausal, before, call.strip.rows), saved);
  return {rectangle.dq.to(at::kFloat) + square.dq, at::cat({rectangle.dk, square.dk}, 2),
          at::cat({rectangle.dv, square.dv}, 2)};
}

Gradients CudnnStrips::whole(const Call& call, const Saved& saved) const {
  return by_members(call, saved, [&](const Call& each, const Saved& its, const at::Tensor& dq) {
    const auto like = [&](const at::Tensor& x) { return at::empty(x.sizes(), x.options()); };
    const Gradients result{dq.defined() ? dq : like(each.q), like(each.k), like(each.v)};
    in_parts({each.strip, each.scale, each.q, each.k, each.v}, {its.o, packed(its.lse), its.d_o},
             {result.dq, result.dk, result.dv}, dq_ == DQ::kRepeats);
    return result;
  });
}

}  // namespace ringcheck
