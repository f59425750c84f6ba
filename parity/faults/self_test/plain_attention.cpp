// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/plain_attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace ringcheck::parity::plain {
namespace {

using Tensor4 = at::TensorAccessor<double, 4>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether two tokens of one document see each other.
struct Sees {
  int64_t q, k;
  bool operator()(const Full&) const { return true; }
  bool operator()(const Causal&) const { return q >= k; }
  bool operator()(const Window& window) const { return q >= k && k > q - window.width; }
  bool operator()(const DocumentCausal&) const { return q >= k; }
  bool operator()(const DocumentFull&) const { return true; }
  bool operator()(const Prefix& prefix) const { return q >= k || k <= prefix.length - 1; }
};

double dot(const at::TensorAccessor<double, 1>& a, const at::TensorAccessor<double, 1>& b) {
  double sum = 0;
  for (int64_t c = 0; c < a.size(0); ++c)
    sum += a[c] * b[c];
  return sum;
}

// to += factor from
void add(at::TensorAccessor<double, 1> to, double factor,
         const at::TensorAccessor<double, 1>& from) {
  for (int64_t c = 0; c < to.size(0); ++c)
    to[c] += factor * from[c];
}

// A query: its scores, the softmax of them, and what follows.
void attend(const Tensor4& q, const Tensor4& k, const Tensor4& v, const Tensor4& d_o,
            const std::vector<int64_t>& keys, double scale, int64_t b, int64_t h, int64_t i,
            const reference::Tensors& result) {
  const int64_t g = h / (q.size(1) / k.size(1));
  Tensor4 o = result.o.accessor<double, 4>(), dq = result.dq.accessor<double, 4>(),
          dk = result.dk.accessor<double, 4>(), dv = result.dv.accessor<double, 4>();
  std::vector<double> p;
  double most = -kInfinity, sum = 0;
  for (const int64_t j : keys) {
    p.push_back(dot(q[b][h][i], k[b][g][j]) * scale);
    most = std::max(most, p.back());
  }
  for (double& x : p)
    sum += x = std::exp(x - most);
  result.lse.accessor<double, 3>()[b][h][i] = most + std::log(sum);
  for (size_t n = 0; n < keys.size(); ++n) {
    p[n] /= sum;
    add(o[b][h][i], p[n], v[b][g][keys[n]]);
  }
  const double delta = dot(d_o[b][h][i], o[b][h][i]);
  for (size_t n = 0; n < keys.size(); ++n) {
    const int64_t j = keys[n];
    const double ds = p[n] * (dot(d_o[b][h][i], v[b][g][j]) - delta);
    add(dq[b][h][i], ds * scale, k[b][g][j]);
    add(dk[b][g][j], ds * scale, q[b][h][i]);
    add(dv[b][g][j], p[n], d_o[b][h][i]);
  }
}

}  // namespace

std::vector<Token> tokens_of(const Mask& mask) {
  std::vector<Token> tokens(static_cast<size_t>(mask.length));
  const auto number_documents = [&](const auto& kind) {
    if constexpr (requires { kind.documents; }) {
      size_t slot = 0;
      for (size_t d = 0; d < kind.documents.size(); ++d)
        for (int64_t i = 0; i < kind.documents[d].slots; ++i, ++slot)
          if (i < kind.documents[d].length)
            tokens.at(slot) = {static_cast<int64_t>(d), i};
    } else {
      for (size_t slot = 0; slot < tokens.size(); ++slot)
        tokens[slot] = {0, static_cast<int64_t>(slot)};
    }
  };
  std::visit(number_documents, mask.kind);
  return tokens;
}

bool sees(const Mask& mask, const std::vector<Token>& tokens, int64_t q, int64_t k) {
  const int64_t document = tokens.at(q).document;
  return document >= 0 && document == tokens.at(k).document && std::visit(Sees{q, k}, mask.kind);
}

reference::Tensors attention(const reference::Inputs& in) {
  const auto wide = [](const at::Tensor& x) { return x.cpu().to(at::kDouble).contiguous(); };
  const at::Tensor q = wide(in.q), k = wide(in.k), v = wide(in.v), d_o = wide(in.d_o);
  const std::vector<Token> tokens = tokens_of(in.mask);
  reference::Tensors result{at::zeros_like(d_o),
                            at::full(q.sizes().slice(0, 3), -kInfinity, at::kDouble),
                            at::zeros_like(q), at::zeros_like(k), at::zeros_like(v)};
  for (int64_t i = 0; i < q.size(2); ++i) {
    std::vector<int64_t> keys;
    for (int64_t j = 0; j < q.size(2); ++j)
      if (sees(in.mask, tokens, i, j))
        keys.push_back(j);
    if (keys.empty())
      continue;
    for (int64_t b = 0; b < q.size(0); ++b)
      for (int64_t h = 0; h < q.size(1); ++h)
        attend(q.accessor<double, 4>(), k.accessor<double, 4>(), v.accessor<double, 4>(),
               d_o.accessor<double, 4>(), keys, in.scale, b, h, i, result);
  }
  return result;
}

at::Tensor turned(const at::Tensor& x, const Case& test, int direction) {
  if (test.rope.llama3)
    throw std::invalid_argument("plain loops know no scaled frequencies");
  const bool rotates = test.rope.pairing != Rope::Pairing::kNone;
  const bool neighbours = test.rope.pairing == Rope::Pairing::kInterleaved;
  const std::vector<Token> tokens = tokens_of(mask_of(test));
  const at::Tensor result = x.cpu().to(at::kDouble, false, true).contiguous();
  const int64_t half = result.size(3) / 2;
  for (int64_t slot = 0; slot < result.size(2); ++slot) {
    if (tokens[slot].document < 0)
      result.select(2, slot).zero_();
    for (int64_t c = 0; rotates && c < half; ++c) {
      const double turns =
          std::pow(test.rope.base, -static_cast<double>(c) / static_cast<double>(half));
      const double angle = direction * (static_cast<double>(tokens[slot].index) * turns);
      at::Tensor first = result.select(2, slot).select(2, neighbours ? 2 * c : c);
      at::Tensor second = result.select(2, slot).select(2, neighbours ? 2 * c + 1 : c + half);
      const at::Tensor before = first.clone();
      first.copy_(before * std::cos(angle) - second * std::sin(angle));
      second.copy_(before * std::sin(angle) + second * std::cos(angle));
    }
  }
  return result;
}

}  // namespace ringcheck::parity::plain
