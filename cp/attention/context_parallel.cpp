// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/context_parallel.h"

#include <ATen/ATen.h>

#include <sstream>
#include <stdexcept>

#include "cp/device/range.h"
#include "cp/layout/shard.h"

namespace ringcheck {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

std::string sizes(const at::Tensor& x) {
  std::ostringstream text;
  text << x.sizes();
  return text.str();
}

BlockShape shape_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const Mask& mask) {
  return {q.scalar_type(), q.device(), q.size(0), q.size(1), k.size(1),
          q.size(3),       v.size(3),  mask,      {},        {}};
}

}  // namespace

std::optional<std::string> refuses(const StrategyEntry& strategy, const Plan& plan,
                                   BlockShape shape) {
  shape.mask = plan.mask;
  if (auto reason = strategy.refuses(plan, shape)) return reason;
  for (const Positions& queries : plan.layout)
    for (const Positions& keys : plan.layout) {
      shape.queries = queries;
      shape.keys = keys;
      if (auto reason = plan.kernel->refuses(shape)) return reason;
    }
  return std::nullopt;
}

ContextParallel::ContextParallel(Communicator& comm, Options options)
    : comm_(comm), options_(std::move(options)) {
  require(static_cast<int>(options_.plan.layout.size()) == comm.size(),
          "the layout is for " + std::to_string(options_.plan.layout.size()) +
              " ranks, the communicator has " + std::to_string(comm.size()));
}

void ContextParallel::check(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
  const std::string found = "q " + sizes(q) + ", k " + sizes(k) + ", v " + sizes(v);
  require(q.dim() == 4 && k.dim() == 4 && v.dim() == 4,
          "q, k and v need [batch, heads, seq, dim]; got " + found);
  require(q.scalar_type() == k.scalar_type() && k.scalar_type() == v.scalar_type(),
          "q, k and v need one dtype");
  require(q.size(0) == k.size(0) && k.size(0) == v.size(0), "batch sizes disagree: " + found);
  require(k.size(1) == v.size(1), "k and v need the same heads: " + found);
  require(k.size(1) > 0 && q.size(1) % k.size(1) == 0,
          "query heads must be a multiple of key-value heads: " + found);
  require(q.size(3) == k.size(3) && q.size(3) > 0 && v.size(3) > 0,
          "q and k need the same dim, above 0: " + found);
  const int64_t slots = count(own());
  require(q.size(2) == slots && k.size(2) == slots && v.size(2) == slots,
          "the layout gives this rank " + std::to_string(slots) + " slots; got " + found);
  require(options_.rope.pairing == Rope::Pairing::kNone || q.size(3) % 2 == 0,
          "RoPE needs an even dim; got " + found);
  if (const auto reason = refuses(options_.strategy, options_.plan, shape_of(q, k, v, options_.plan.mask)))
    throw std::invalid_argument(*reason);
}

at::Tensor ContextParallel::rotated(const at::Tensor& x) const {
  const at::Tensor tokens = zero_pads(x, options_.plan.mask, own());
  if (options_.rope.pairing == Rope::Pairing::kNone) return tokens;
  return options_.rotate(tokens, options_.rope, options_.plan.mask, own()).to(x.scalar_type());
}

at::Tensor ContextParallel::unrotated(const at::Tensor& gradient, at::ScalarType dtype) const {
  if (options_.rope.pairing == Rope::Pairing::kNone) return gradient.to(dtype);
  return options_.rotate_back(gradient, options_.rope, options_.plan.mask, own()).to(dtype);
}

ContextParallel::Context ContextParallel::forward(const at::Tensor& q, const at::Tensor& k,
                                                  const at::Tensor& v) {
  check(q, k, v);
  const Range range({"forward"});
  const Ledger::Scope scope(comm_.ledger(), Phase::kForward);
  Context context{options_.strategy.make(comm_, options_.plan),
                  {rotated(q).contiguous(), own()},
                  pack(rotated(k), zero_pads(v, options_.plan.mask, own()), own()),
                  {},
                  {}};
  const Partial whole = context.strategy->forward(context.q, context.kv);
  comm_.finish();
  context.o = whole.out.to(q.scalar_type());
  context.lse = whole.lse;
  return context;
}

Gradients ContextParallel::backward(Context& context, const at::Tensor& d_o) {
  require(d_o.sizes() == context.o.sizes() && d_o.scalar_type() == context.o.scalar_type(),
          "the gradient of the output needs its shape and dtype: " + sizes(d_o) + " against " +
              sizes(context.o));
  const Range range({"backward"});
  const Ledger::Scope scope(comm_.ledger(), Phase::kBackward);
  const at::ScalarType dtype = context.o.scalar_type(), wide = accumulation_type(dtype);
  Saved saved{context.o, context.lse, {}, zero_pads(d_o, options_.plan.mask, own()).contiguous()};
  saved.d = (saved.d_o.to(wide) * saved.o.to(wide)).sum(-1);
  const Gradients whole = context.strategy->backward(context.q, context.kv, saved);
  comm_.finish();
  return {unrotated(whole.dq, dtype), unrotated(whole.dk, dtype), whole.dv.to(dtype)};
}

}  // namespace ringcheck
