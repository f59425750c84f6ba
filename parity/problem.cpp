// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/problem.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <Random123/philox.h>

#include <bit>
#include <cmath>
#include <limits>

#include "cp/shard.h"
#include "parity/safetensors.h"
#include "parity/text.h"

namespace ringcheck::parity {
namespace {

enum class Which : uint32_t { kQ, kK, kV, kDo };

// 128 random bits per element, and 128 more for families that need a second draw.
using Bits = r123::Philox4x32::ctr_type;

struct Element {
  uint64_t seed;
  Which which;
  uint32_t batch, head, channel;
  uint64_t position;

  Bits bits(uint32_t draw) const {
    const Bits counter{{channel | static_cast<uint32_t>(which) << 24 | draw << 28,
                        head | batch << 16, static_cast<uint32_t>(position),
                        static_cast<uint32_t>(position >> 32)}};
    const r123::Philox4x32::key_type key{
        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}};
    return r123::Philox4x32()(counter, key);
  }
};

// Nearly normal (Irwin-Hall with eight terms), standard deviation 1.02. Integers up to the last
// step, at most 21 significant bits: what follows can be exact in float32.
double normal(const Element& e) {
  int32_t sum = 0;
  for (const uint32_t word : e.bits(0)) sum += static_cast<int32_t>((word & 0x7fff) + (word >> 17));
  return (sum - 4 * 0x7fff) * 5.0 / 0x20000;
}

double unit(const Element& e) { return static_cast<double>(e.bits(0)[0] >> 8) / 0x1000000; }

bool is_score(Which which) { return which == Which::kQ || which == Which::kK; }

using Family = double (*)(const Element&);

double spread3(const Element& e) { return normal(e) * (is_score(e.which) ? 1.75 : 1); }
double peaked(const Element& e) { return normal(e) * (is_score(e.which) ? 2.5 : 1); }
double flat(const Element& e) { return normal(e) * (is_score(e.which) ? 0.125 : 1); }
double uniform(const Element& e) { return e.which == Which::kDo ? normal(e) : unit(e); }
double outliers(const Element& e) {
  return normal(e) * (e.which != Which::kDo && e.bits(1)[0] % 1000 == 0 ? 10 : 1);
}
double offset(const Element& e) {
  return e.which == Which::kV ? 100 + std::floor(normal(e) * 1024) / 1024 : spread3(e);
}
double ones(const Element& e) { return e.which == Which::kV ? 1 : spread3(e); }
double wide(const Element& e) {
  const int exponent = static_cast<int>(e.bits(1)[0] % 13) - 6;
  return is_score(e.which) ? spread3(e) : std::ldexp(normal(e), exponent);
}

struct NamedFamily {
  Family value;
  const char* says;
};

const std::map<std::string, NamedFamily>& families() {
  static const std::map<std::string, NamedFamily> table{
      {"spread3", {spread3, "normal, q and k so wide that logits have standard deviation 3"}},
      {"normal", {normal, "N(0,1) everywhere"}},
      {"uniform", {uniform, "q, k and v in [0, 1): flat, all positive"}},
      {"outliers", {outliers, "N(0,1) with one value in a thousand ten times larger"}},
      {"peaked", {peaked, "q and k times 2.5: nearly one-hot"}},
      {"flat", {flat, "q and k over 8: nearly uniform attention"}},
      {"offset", {offset, "v = 100 + N(0,1)"}},
      {"ones", {ones, "v = 1: O must be 1"}},
      {"wide", {wide, "v and dO over thirteen binades"}}};
  return table;
}

// A float64 has more bits than the families fill; the others are left as they are.
double filled(double value, const Element& e, at::ScalarType dtype) {
  if (dtype != at::kDouble) return value;
  return value * (1 + static_cast<int32_t>(e.bits(2)[0]) * 0x1p-58);
}

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
void fill(T* out, const Case& test, Which which, const Sizes& sizes,
          const std::vector<int64_t>& positions) {
  const Family value = families().at(test.data).value;
  const int64_t slots = static_cast<int64_t>(positions.size());
  const std::vector<bool> tokens = tokens_of(mask_of(test), positions);
  at::parallel_for(0, sizes.batch * sizes.heads * slots, 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      Element e{test.seed, which, static_cast<uint32_t>(row / slots / sizes.heads),
                static_cast<uint32_t>(row / slots % sizes.heads), 0,
                static_cast<uint64_t>(positions[row % slots])};
      for (int64_t c = 0; c < sizes.channels; ++c) {
        e.channel = static_cast<uint32_t>(c);
        out[row * sizes.channels + c] =
            c10::convert<T>(tokens[row % slots] ? filled(value(e), e, test.dtype)
                                                : std::numeric_limits<double>::quiet_NaN());
      }
    }
  });
}

at::Tensor generate(const Case& test, Which which, const Sizes& sizes,
                    const std::vector<int64_t>& positions) {
  const int64_t slots = static_cast<int64_t>(positions.size());
  at::Tensor x = at::empty({sizes.batch, sizes.heads, slots, sizes.channels}, test.dtype);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, test.dtype, "problem", [&] {
    fill(x.mutable_data_ptr<scalar_t>(), test, which, sizes, positions);
  });
  return x;
}

Problem generated(const Case& test, const std::vector<int64_t>& positions) {
  const Sizes q{test.batch, test.q_heads, test.dim}, k{test.batch, test.kv_heads, test.dim};
  const Sizes v{test.batch, test.kv_heads, test.dim_v}, d_o{test.batch, test.q_heads, test.dim_v};
  return {generate(test, Which::kQ, q, positions), generate(test, Which::kK, k, positions),
          generate(test, Which::kV, v, positions), generate(test, Which::kDo, d_o, positions)};
}

// The user's own q, k, v and, where there is one, do.
Problem loaded(const Case& test) {
  const Safetensors file = read_safetensors(parse_call(test.data).arguments.at(0));
  const std::vector<int64_t> sizes{test.batch, test.q_heads, test.seq, test.dim_v};
  const auto found = file.tensors.find("do");
  Case random = test;
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

}  // namespace

const std::map<std::string, std::string>& data_families() {
  static const auto table = [] {
    std::map<std::string, std::string> names;
    for (const auto& [name, family] : families()) names[name] = family.says;
    return names;
  }();
  return table;
}

Problem Problem::to(at::Device device, bool copy) const {
  const auto there = [&](const at::Tensor& x) {
    return x.to(device, x.scalar_type(), false, copy);
  };
  return {there(q), there(k), there(v), there(d_o)};
}

Problem problem_of(const Case& test) { return problem_of(test, {{0, test.seq}}); }

Problem problem_of(const Case& test, const Positions& positions) {
  if (parse_call(test.data).name != "tensors") return generated(test, flatten(positions));
  const Problem whole = loaded(test);
  return {shard(whole.q, 2, positions), shard(whole.k, 2, positions), shard(whole.v, 2, positions),
          shard(whole.d_o, 2, positions)};
}

}  // namespace ringcheck::parity
