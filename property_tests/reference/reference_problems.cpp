// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/reference/reference_problems.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace ringcheck::reference_testing {
namespace {

class Values {
 public:
  explicit Values(uint64_t seed) : generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

  at::Tensor normal(at::IntArrayRef sizes) { return at::randn(sizes, generator_, at::kDouble); }
  at::Tensor uniform(at::IntArrayRef sizes) { return at::rand(sizes, generator_, at::kDouble); }
  at::Tensor of(Family family, at::IntArrayRef sizes) {
    switch (family) {
      case Family::kUniform:
        return uniform(sizes);
      case Family::kOutliers:
        return normal(sizes) * (1 + 9 * (uniform(sizes) < 0.02));
      case Family::kWide:
        return normal(sizes) * wide({sizes[0], sizes[1], sizes[2], 1});
      default:
        return normal(sizes);
    }
  }
  at::Tensor wide(at::IntArrayRef sizes) { return at::exp2(uniform(sizes) * 12 - 8); }

 private:
  at::Generator generator_;
};

// The documents `lengths`, the first with three and the last with two pad slots.
Documents with_pads(std::vector<int64_t> lengths) {
  Documents documents;
  for (const int64_t length : lengths)
    documents.push_back({length, length});
  documents.front().slots += 3;
  documents.back().slots += 2;
  return documents;
}

// Documents and pads that fill at most `seq` slots.
rc::Gen<Documents> drawn_documents(int64_t seq) {
  return rc::gen::exec([seq] {
    Documents documents;
    int64_t left = seq;
    while (left > 0 && *rc::gen::inRange(0, 8) > 0) {
      const int64_t slots = *rc::gen::inRange<int64_t>(1, left + 1);
      documents.push_back(
          {slots - *rc::gen::inRange<int64_t>(0, std::min<int64_t>(slots, 4)), slots});
      left -= slots;
    }
    return documents;
  });
}

rc::Gen<std::pair<std::string, Mask>> drawn_mask(int64_t seq, int first_kind) {
  return rc::gen::exec([=]() -> std::pair<std::string, Mask> {
    switch (*rc::gen::inRange(first_kind, 6)) {
      case 0:
        return {"full", {Full{}, seq}};
      case 1:
        return {"causal", {Causal{}, seq}};
      case 2:
        return {"window", {Window{*rc::gen::inRange<int64_t>(1, seq + 2)}, seq}};
      case 3:
        return {"prefix", {Prefix{*rc::gen::inRange<int64_t>(0, seq + 2)}, seq}};
      case 4:
        return {"doc", {DocumentCausal{*drawn_documents(seq)}, seq}};
      default:
        return {"docfull", {DocumentFull{*drawn_documents(seq)}, seq}};
    }
  });
}

rc::Gen<Drawn> drawn_problem(int first_kind) {
  return rc::gen::exec([=] {
    Shape shape;
    shape.batch = *rc::gen::inRange<int64_t>(1, 3);
    shape.kv_heads = *rc::gen::inRange<int64_t>(1, 3);
    shape.q_heads = shape.kv_heads * *rc::gen::inRange<int64_t>(1, 4);
    shape.seq = *rc::gen::inRange<int64_t>(1, 40);
    shape.dim = 2 * *rc::gen::inRange<int64_t>(1, 8);
    shape.dim_v = *rc::gen::inRange<int64_t>(1, 12);
    const auto [name, mask] = *drawn_mask(shape.seq, first_kind);
    return Drawn{shape, name, mask, *rc::gen::arbitrary<uint32_t>()};
  });
}

}  // namespace

std::string name_of(Family family) {
  static constexpr std::array kNames = {"spread3", "normal", "uniform", "outliers", "peaked",
                                        "offset",  "ones",   "flat",    "wide"};
  return kNames[static_cast<size_t>(family)];
}

reference::Inputs draw(const Shape& s, const Mask& mask, uint64_t seed, Family family,
                       at::ScalarType dtype) {
  Values values(seed);
  const auto held = [&](const at::Tensor& x) { return x.to(dtype).to(at::kDouble); };
  const double size = family == Family::kPeaked ? 2.5 : family == Family::kFlat ? 0.1 : 1;
  const at::Tensor q = values.of(family == Family::kWide ? Family::kNormal : family,
                                 {s.batch, s.q_heads, s.seq, s.dim}) *
                       size;
  const at::Tensor k = values.of(family == Family::kWide ? Family::kNormal : family,
                                 {s.batch, s.kv_heads, s.seq, s.dim}) *
                       size;
  at::Tensor v = values.of(family, {s.batch, s.kv_heads, s.seq, s.dim_v});
  if (family == Family::kOffset)
    v += 100;
  if (family == Family::kOnes)
    v.fill_(1);
  const at::Tensor d_o = values.of(family == Family::kWide ? family : Family::kNormal,
                                   {s.batch, s.q_heads, s.seq, s.dim_v});
  const double spread = family == Family::kSpread3 ? 3 : 1;
  return {held(q), held(k), held(v), held(d_o), mask, spread / std::sqrt(double(s.dim))};
}

std::vector<std::pair<std::string, Mask>> masks(int64_t seq) {
  const int64_t third = seq / 3;
  return {
      {"full", {Full{}, seq}},
      {"causal", {Causal{}, seq}},
      {"window", {Window{7}, seq}},
      {"doc", {DocumentCausal{{{third, third}, {1, 1}, {seq - third - 1, seq - third - 1}}}, seq}},
      {"doc with pads", {DocumentCausal{with_pads({third, 1, seq - third - 8})}, seq}},
      {"docfull with pads", {DocumentFull{with_pads({third, 1, seq - third - 8})}, seq}},
      {"prefix", {Prefix{9}, seq}}};
}

reference::Contract float64_contract() {
  return {.u_a = 0x1p-53,
          .u_p = 0x1p-53,
          .eta_p = 0,
          .u_o = 0x1p-53,
          .eta_o = 0,
          .eta_e = 0x1p-1022,
          .u_in = 0,
          .u_m = 0x1p-53,
          .kappa = 1,
          .c_e = 4};
}

at::Tensor quotient(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& bound) {
  const at::Tensor error = (actual - expected).abs();
  return at::where(actual == expected, 0., (error / bound).nan_to_num(INFINITY, INFINITY));
}

double worst(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& bound) {
  return actual.numel() == 0 ? 0 : quotient(actual, expected, bound).max().item<double>();
}

std::string excess(const reference::Tensors& actual, const reference::Tensors& expected,
                   const reference::Tensors& bound, double factor) {
  std::ostringstream found;
  for (const auto& [name, field] : kFields) {
    const at::Tensor &x = actual.*field, &y = expected.*field;
    if (x.sizes() != y.sizes()) {
      found << name << " has shape " << x.sizes() << ", expected " << y.sizes() << ". ";
      continue;
    }
    const at::Tensor flat = quotient(x, y, bound.*field).flatten();
    if (flat.numel() == 0 || flat.max().item<double>() <= factor)
      continue;
    const int64_t at = flat.argmax().item<int64_t>();
    const auto element = [&](const at::Tensor& t) { return t.flatten()[at].item<double>(); };
    found << name << " at flat index " << at << " of " << x.sizes() << ": " << element(x)
          << ", expected " << element(y) << " +- " << element(bound.*field) << ". ";
  }
  return found.str();
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         a.view(at::kLong).equal(b.view(at::kLong));
}

void showValue(const Drawn& d, std::ostream& os) {
  os << d.mask_name << ", batch " << d.shape.batch << ", heads " << d.shape.q_heads << " on "
     << d.shape.kv_heads << ", seq " << d.shape.seq << ", dim " << d.shape.dim << ", dim_v "
     << d.shape.dim_v << ", seed " << d.seed;
}

rc::Gen<Drawn> problems() { return drawn_problem(0); }
rc::Gen<Drawn> packed_problems() { return drawn_problem(4); }

}  // namespace ringcheck::reference_testing
