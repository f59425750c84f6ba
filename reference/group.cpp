// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/group.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ringcheck::reference {
namespace {

void require(bool holds, const char* what) {
  if (!holds)
    throw std::invalid_argument(std::string("attention: ") + what);
}

void check_shapes(const Inputs& in) {
  for (const at::Tensor& x : {in.q, in.k, in.v, in.d_o}) {
    require(x.dim() == 4, "q, k, v and dO have four dimensions");
    require(x.size(0) == in.q.size(0), "the batch sizes differ");
    require(x.size(2) == in.mask.length, "a sequence length differs from the mask's");
    require(x.device() == in.q.device(), "the devices differ");
  }
  require(in.k.size(1) > 0 && in.q.size(1) % in.k.size(1) == 0,
          "the query heads are no multiple of the kv heads");
  require(in.v.size(1) == in.k.size(1), "k and v differ in heads");
  require(in.d_o.size(1) == in.q.size(1), "q and dO differ in heads");
  require(in.k.size(3) == in.q.size(3), "q and k differ in head dimension");
  require(in.d_o.size(3) == in.v.size(3), "v and dO differ in head dimension");
}

// The truth must not be less exact than what it judges.
void check_precision() {
  if (at::globalContext().allowTF32CuBLAS())
    throw std::logic_error("the reference refuses to run while TF32 products are allowed");
}

// [seq, 1] bool, true on pad slots; undefined where there is none.
at::Tensor pad_slots(const Mask& mask, at::Device device) {
  const at::Tensor pads = at::empty({mask.length, 1}, at::kBool);
  bool* pad = pads.mutable_data_ptr<bool>();
  for (int64_t slot = 0; slot < mask.length; ++slot)
    pad[slot] = !is_token(mask, slot);
  return std::any_of(pad, pad + mask.length, [](bool is_pad) { return is_pad; }) ? pads.to(device)
                                                                                 : at::Tensor();
}

}  // namespace

Group grouped(const Inputs& in) {
  check_shapes(in);
  check_precision();
  const at::Tensor pads = pad_slots(in.mask, in.q.device());
  const int64_t pairs = in.k.size(0) * in.k.size(1), shared = in.q.size(1) / in.k.size(1);
  const auto exact = [&](const at::Tensor& x) {
    const at::Tensor wide = x.to(at::kDouble).contiguous();
    return pads.defined() ? wide.masked_fill(pads, 0) : wide;
  };
  const auto by_query = [&](const at::Tensor& x) {
    return exact(x).view({pairs, shared, x.size(2), x.size(3)});
  };
  const auto by_key = [&](const at::Tensor& x) {
    return exact(x).view({pairs, x.size(2), x.size(3)});
  };
  return {by_query(in.q), by_key(in.k), by_key(in.v), by_query(in.d_o), in.scale};
}

std::vector<Range> runs_of_pairs(const Group& all, const Tiling& tiling) {
  const int64_t pairs = all.q.size(0), seq = all.q.size(2);
  const int64_t elements =
      all.q.size(1) * std::min(tiling.rows, seq) * std::min(tiling.columns, seq);
  return ranges(pairs, std::max<int64_t>(1, tiling.together / std::max<int64_t>(1, elements)));
}

Group narrow(const Group& all, Range pairs) {
  const auto part = [&](const at::Tensor& x) { return x.narrow(0, pairs.begin, pairs.size); };
  return {part(all.q), part(all.k), part(all.v), part(all.d_o), all.scale};
}

Tensors ungrouped(const std::vector<Tensors>& runs, const Inputs& in) {
  const auto joined = [&](at::Tensor Tensors::*field, const at::Tensor& like) {
    std::vector<at::Tensor> parts;
    for (const Tensors& run : runs)
      parts.push_back(run.*field);
    return (parts.size() == 1 ? parts[0] : at::cat(parts)).view(like.sizes());
  };
  return {.o = joined(&Tensors::o, in.d_o),
          .lse = joined(&Tensors::lse, in.q.select(-1, 0)),
          .dq = joined(&Tensors::dq, in.q),
          .dk = joined(&Tensors::dk, in.k),
          .dv = joined(&Tensors::dv, in.v)};
}

at::Tensor stacked(const at::Tensor& x, Range rows) {
  const int64_t n = x.dim() == 4 ? x.size(3) : 1;
  return x.narrow(2, rows.begin, rows.size).reshape({x.size(0), x.size(1) * rows.size, n});
}

void unstack(const at::Tensor& x, Range rows, const at::Tensor& strip) {
  const at::Tensor target = x.narrow(2, rows.begin, rows.size);
  target.copy_(strip.view(target.sizes()));
}

void hide(const at::Tensor& x, const Tile& tile, double value) {
  if (tile.hidden.defined())
    x.view({x.size(0), -1, tile.rows.size, tile.columns.size}).masked_fill_(tile.hidden, value);
}

}  // namespace ringcheck::reference
