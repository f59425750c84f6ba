// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/group.h"

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
at::Tensor pad_slots(const Mask& mask) {
  const at::Tensor pads = at::empty({mask.length, 1}, at::kBool);
  bool* pad = pads.mutable_data_ptr<bool>();
  for (int64_t slot = 0; slot < mask.length; ++slot)
    pad[slot] = !is_token(mask, slot);
  return std::any_of(pad, pad + mask.length, [](bool is_pad) { return is_pad; }) ? pads
                                                                                 : at::Tensor();
}

at::Tensor at_slots(const at::Tensor& x, int64_t dim, const at::Tensor& slots) {
  return slots.defined() ? x.index_select(dim, slots.to(x.device())) : x;
}

}  // namespace

void check(const Inputs& inputs) {
  check_shapes(inputs);
  check_precision();
}

std::vector<Range> runs_of_pairs(const Inputs& in, const Tiling& tiling) {
  const int64_t pairs = in.k.size(0) * in.k.size(1), seq = in.mask.length;
  const int64_t elements = in.q.size(1) / in.k.size(1) * std::min(tiling.rows, seq) *
                           std::min(tiling.columns, seq);
  return ranges(pairs, std::max<int64_t>(1, tiling.together / std::max<int64_t>(1, elements)));
}

at::Tensor rows_of_pairs(const at::Tensor& x, const Inputs& in, Range pairs,
                         const at::Tensor& slots) {
  const int64_t all = in.k.size(0) * in.k.size(1);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] = all;
  sizes[1] = x.size(0) * x.size(1) / all;
  return at_slots(x.reshape(sizes).narrow(0, pairs.begin, pairs.size), 2, slots);
}

Group grouped(const Inputs& in, Range pairs, at::Device device, const Slots& slots) {
  const at::Tensor pads = pad_slots(in.mask);
  const auto exact = [&](const at::Tensor& x, const at::Tensor& kept) {
    // Widened there: half of the bytes move, or a quarter, and where it lies it takes no room.
    const at::Tensor wide =
        rows_of_pairs(x, in, pairs, kept).to(device).to(at::kDouble).contiguous();
    return pads.defined() ? wide.masked_fill(at_slots(pads, 0, kept).to(device), 0) : wide;
  };
  return {exact(in.q, slots.queries), exact(in.k, slots.keys).squeeze(1),
          exact(in.v, slots.keys).squeeze(1), exact(in.d_o, slots.queries), in.scale};
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
  if (!tile.full)
    x.view({x.size(0), -1, tile.rows.size, tile.columns.size}).masked_fill_(hidden(tile), value);
}

}  // namespace ringcheck::reference
