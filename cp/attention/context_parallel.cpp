// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/context_parallel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "cp/device/range.h"
#include "cp/layout/shard.h"

namespace ringcheck {
namespace {

std::string sizes(const at::Tensor& x) {
  std::ostringstream text;
  text << x.sizes();
  return text.str();
}

// What q, k and v disagree in, or null.
const char* disagreement(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  if (q.dim() != 4 || k.dim() != 4 || v.dim() != 4)
    return "q, k and v need [batch, heads, seq, dim]";
  if (q.scalar_type() != k.scalar_type() || k.scalar_type() != v.scalar_type())
    return "q, k and v need one dtype";
  if (q.size(0) != k.size(0) || k.size(0) != v.size(0)) return "batch sizes disagree";
  if (k.size(1) != v.size(1)) return "k and v need the same heads";
  if (k.size(1) == 0 || q.size(1) % k.size(1) != 0)
    return "query heads must be a multiple of key-value heads";
  if (q.size(3) != k.size(3) || q.size(3) == 0 || v.size(3) == 0)
    return "q and k need the same dim, above 0";
  return nullptr;
}

BlockShape shape_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return {q.scalar_type(), q.device(), q.size(0), q.size(1), k.size(1), q.size(3), v.size(3)};
}

// In one piece, and where kernels may read many bytes at a time.
at::Tensor in_one_piece(const at::Tensor& x) {
  constexpr uintptr_t kPiece = 16;
  const at::Tensor whole = x.contiguous();
  return reinterpret_cast<uintptr_t>(whole.const_data_ptr()) % kPiece == 0 ? whole : whole.clone();
}

// Of tensors alone: one plan shows every block the same.
bool same_tensors(const BlockShape& a, const BlockShape& b) {
  const auto facts = [](const BlockShape& s) {
    return std::tuple(s.dtype, s.device, s.batch, s.q_heads, s.kv_heads, s.dim, s.dim_v);
  };
  return facts(a) == facts(b);
}

}  // namespace

ContextParallel::ContextParallel(Communicator& comm, Options options)
    : comm_(comm), options_(std::move(options)) {
  Plan& plan = options_.plan;
  if (plan.layout.world() != comm.size() || plan.layout.keys.size() != plan.layout.queries.size())
    throw std::invalid_argument("the layout is for " + std::to_string(plan.layout.world()) +
                                " ranks of queries and " +
                                std::to_string(plan.layout.keys.size()) +
                                " ranks of keys, the communicator has " +
                                std::to_string(comm.size()));
  plan.arguments = options_.strategy.canonical(plan.arguments);
  const auto batch = static_cast<int64_t>(std::max<size_t>(1, plan.lengths.size()));
  if (const auto reason = ringcheck::refuses(plan.scores.mask, plan.lengths, batch))
    throw std::invalid_argument(*reason);
  plan.visibilities = std::make_shared<std::map<int64_t, Visibilities>>();
  plan.finished = [rope = options_.rope, rotate_back = options_.rotate_back,
                   mask = plan.scores.mask](const at::Tensor& gradient, const Positions& positions,
                                            at::ScalarType dtype) {
    if (rope.pairing == Rope::Pairing::kNone) return gradient.to(dtype);
    return rotate_back(gradient, rope, mask, positions).to(dtype);
  };
  const auto side = [&](const Positions& own) -> Side {
    Side made{own, {}};
    for (const SameLength& some : by_length(plan.scores.mask, plan.lengths, batch))
      made.pads.push_back(at::tensor(pads_of(some.mask, own), at::kLong));
    return made;
  };
  queries_ = side(plan.layout.queries[comm.rank()]);
  keys_ = side(plan.layout.keys[comm.rank()]);
}

void ContextParallel::check(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto found = [&] { return "; got q " + sizes(q) + ", k " + sizes(k) + ", v " + sizes(v); };
  if (const char* wrong = disagreement(q, k, v)) throw std::invalid_argument(wrong + found());
  const int64_t asking = count(queries_.positions), held = count(keys_.positions);
  if (q.size(2) != asking || k.size(2) != held || v.size(2) != held)
    throw std::invalid_argument("the layout gives this rank " + std::to_string(asking) +
                                " slots of queries and " + std::to_string(held) + " of keys" +
                                found());
  if (options_.rope.pairing != Rope::Pairing::kNone && q.size(3) % 2 != 0)
    throw std::invalid_argument("RoPE needs an even dim" + found());
  const BlockShape shape = shape_of(q, k, v);
  const auto known = [&](const BlockShape& other) { return same_tensors(shape, other); };
  if (std::ranges::any_of(checked_, known)) return;
  if (const auto reason = refuses(options_.strategy, options_.plan, shape))
    throw std::invalid_argument(*reason);
  checked_.push_back(shape);
}

at::Tensor ContextParallel::tokens(const at::Tensor& x, Side& side) const {
  for (at::Tensor& pads : side.pads)
    if (pads.device() != x.device()) pads = pads.to(x.device());
  if (side.pads.size() == 1) return zero_pads(x, side.pads.front());
  const auto none = [](const at::Tensor& pads) { return pads.numel() == 0; };
  if (std::ranges::all_of(side.pads, none)) return x;
  const at::Tensor clean = x.clone();
  auto pads = side.pads.begin();
  for (const SameLength& some :
       by_length(options_.plan.scores.mask, options_.plan.lengths, x.size(0)))
    some.of(clean).index_fill_(2, *pads++, 0);
  return clean;
}

at::Tensor ContextParallel::rotated(const at::Tensor& x, Side& side) const {
  const at::Tensor clean = tokens(x, side);
  if (options_.rope.pairing == Rope::Pairing::kNone) return clean;
  return options_.rotate(clean, options_.rope, options_.plan.scores.mask, side.positions)
      .to(x.scalar_type());
}

KvBlock ContextParallel::own_block(const at::Tensor& k, const at::Tensor& v) const {
  return apart(in_one_piece(k), in_one_piece(v), keys_.positions);
}

ContextParallel::Context ContextParallel::forward(const at::Tensor& q, const at::Tensor& k,
                                                  const at::Tensor& v) {
  check(q, k, v);
  const Range range({"forward"});
  if (!comm_.ledger().settled(Phase::kForward)) comm_.finish();
  const Ledger::Scope scope(comm_.ledger(), Phase::kForward);
  Context context{options_.strategy.make(comm_, options_.plan),
                  {in_one_piece(rotated(q, queries_)), queries_.positions},
                  own_block(rotated(k, keys_), tokens(v, keys_)),
                  {},
                  {}};
  const Partial whole = context.strategy->forward(context.q, context.kv);
  comm_.hand_over();
  comm_.ledger().finishing();
  context.o = whole.out.to(q.scalar_type());
  context.lse = whole.lse;
  return context;
}

Gradients ContextParallel::backward(Context& context, const at::Tensor& d_o) {
  return backward(context, d_o, &Communicator::finish);
}

Gradients ContextParallel::queue_backward(Context& context, const at::Tensor& d_o) {
  return backward(context, d_o, &Communicator::hand_over);
}

Gradients ContextParallel::backward(Context& context, const at::Tensor& d_o, void (Communicator::*ends)()) {
  if (d_o.sizes() != context.o.sizes() || d_o.scalar_type() != context.o.scalar_type())
    throw std::invalid_argument("the gradient of the output needs its shape and dtype: " +
                                sizes(d_o) + " against " + sizes(context.o));
  const Range range({"backward"});
  const Ledger::Scope scope(comm_.ledger(), Phase::kBackward);
  const at::ScalarType dtype = context.o.scalar_type();
  const Gradients whole = context.strategy->backward(context.q, context.kv,
                                                     {context.o, context.lse, {}, in_one_piece(tokens(d_o, queries_))});
  (comm_.*ends)();
  comm_.ledger().finishing();
  if (options_.strategy.finishes_gradients) return whole;
  return {options_.plan.finished(whole.dq, queries_.positions, dtype),
          options_.plan.finished(whole.dk, keys_.positions, dtype), whole.dv.to(dtype)};
}

}  // namespace ringcheck
