// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/problem.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <limits>

#include "cp/layout/shard.h"
#include "cp/layout/upload.h"
#include "parity/case/data_family.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

struct Sizes {
  int64_t batch, heads, channels;
};

std::vector<bool> tokens_of(const Mask& mask, const std::vector<int64_t>& positions) {
  std::vector<bool> tokens;
  for (const int64_t position : positions) tokens.push_back(is_token(mask, position));
  return tokens;
}

// Rows of [heads, slots, channels] of one batch entry after the other.
template <class T>
void fill(T* out, const Task& test, Which which, const Sizes& sizes,
          const std::vector<int64_t>& positions) {
  const DataFamily& family = DataFamilies::at(test.data);
  const int64_t slots = static_cast<int64_t>(positions.size());
  const std::vector<bool> tokens = tokens_of(mask_of(test), positions);
  const auto is_one = [&](int64_t entry, int64_t slot) {
    return tokens[slot] && positions[slot] < length_of(test, entry);
  };
  at::parallel_for(0, sizes.batch * sizes.heads * slots, 64, [&](int64_t begin, int64_t end) {
    std::vector<double> channels(sizes.channels);
    for (int64_t row = begin; row < end; ++row) {
      const Element first{test.seed, which, static_cast<uint32_t>(row / slots / sizes.heads),
                          static_cast<uint32_t>(row / slots % sizes.heads), 0,
                          static_cast<uint64_t>(positions[row % slots])};
      if (is_one(first.batch, row % slots)) family.fill(test, first, channels);
      else std::ranges::fill(channels, std::numeric_limits<double>::quiet_NaN());
      std::ranges::transform(channels, out + row * sizes.channels, c10::convert<T, double>);
    }
  });
}

at::Tensor generate(const Task& test, Which which, const Sizes& sizes,
                    const std::vector<int64_t>& positions) {
  const int64_t slots = static_cast<int64_t>(positions.size());
  at::Tensor x = at::empty({sizes.batch, sizes.heads, slots, sizes.channels}, test.dtype);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, test.dtype, "problem", [&] {
    fill(x.mutable_data_ptr<scalar_t>(), test, which, sizes, positions);
  });
  return x;
}

Problem generated(const Task& test, const std::vector<int64_t>& positions) {
  const Sizes q{test.batch, test.q_heads, test.dim}, k{test.batch, test.kv_heads, test.dim};
  const Sizes v{test.batch, test.kv_heads, test.dim_v}, d_o{test.batch, test.q_heads, test.dim_v};
  return {generate(test, Which::kQ, q, positions), generate(test, Which::kK, k, positions),
          generate(test, Which::kV, v, positions), generate(test, Which::kDo, d_o, positions)};
}

// The user's own q, k, v and, where there is one, do.
Problem loaded(const Task& test) {
  const Safetensors file = read_safetensors(parse_call(test.data).arguments.at(0));
  const std::vector<int64_t> sizes{test.batch, test.q_heads, test.seq, test.dim_v};
  const auto found = file.tensors.find("do");
  Task random = test;
  random.data = "normal";
  const auto d_o = [&] {
    return generate(random, Which::kDo, {test.batch, test.q_heads, test.dim_v},
                    flatten({{0, test.seq}}));
  };
  Problem whole{file.tensors.at("q"), file.tensors.at("k"), file.tensors.at("v"),
                found == file.tensors.end() ? d_o() : found->second};
  if (whole.q.sizes() != at::IntArrayRef({test.batch, test.q_heads, test.seq, test.dim}) ||
      whole.d_o.sizes() != at::IntArrayRef(sizes) || whole.q.scalar_type() != test.dtype)
    throw BadCase("the tensors of " + test.data + " have other shapes than the case");
  return whole;
}

// The indices of the slots without a token.
at::Tensor pads_on(at::Device device, const Mask& mask, const Positions& positions) {
  return uploaded(pads_of(mask, positions), device);
}

}  // namespace

void fill_pads(const Task& test, const Positions& positions, const at::Tensor& x, double value) {
  for (const Entries& some : entries_of(test))
    x.narrow(0, some.first, some.count)
        .index_fill_(2, pads_on(x.device(), some.mask, positions), value);
}

at::Tensor without_pads(const Task& test, const at::Tensor& x) {
  const Positions all{{0, test.seq}};
  if (test.lengths.empty()) return zero_pads(x, mask_of(test), all);
  const at::Tensor clean = x.clone();
  fill_pads(test, all, clean, 0);
  return clean;
}

at::Tensor one_into_memory(const at::Tensor& x) {
  const at::Tensor room = at::empty({x.numel() + 1}, x.options());
  return room.narrow(0, 1, x.numel()).view(x.sizes()).copy_(x);
}

Problem Problem::to(at::Device device, bool copy) const {
  const auto there = [&](const at::Tensor& x) {
    const at::Tensor moved = x.to(device, x.scalar_type(), false, copy);
    const bool one_in = x.storage_offset() == 1 && x.is_contiguous() &&
                        static_cast<int64_t>(x.storage().nbytes()) == (x.numel() + 1) * x.element_size();
    return one_in && !moved.is_alias_of(x) ? one_into_memory(moved) : moved;
  };
  return {there(q), there(k), there(v), there(d_o)};
}

Problem problem_of(const Task& test) { return problem_of(test, {{0, test.seq}}); }

Problem problem_of(const Task& test, const Positions& positions) {
  if (!has_own_tensors(test)) return generated(test, flatten(positions));
  const Problem whole = loaded(test);
  return {shard(whole.q, 2, positions), shard(whole.k, 2, positions), shard(whole.v, 2, positions),
          shard(whole.d_o, 2, positions)};
}

}  // namespace ringcheck::parity
