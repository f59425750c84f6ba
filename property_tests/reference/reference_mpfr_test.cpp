// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <boost/multiprecision/mpfr.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;
using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<100>,
                                           boost::multiprecision::et_off>;

// [rows, columns] of numbers with a hundred digits.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns) : columns_(columns), x_(rows * columns) {}
  explicit Matrix(const at::Tensor& t) : Matrix(t.size(0), t.size(1)) {
    const at::Tensor exact = t.contiguous();
    for (size_t n = 0; n < x_.size(); ++n)
      x_[n] = exact.const_data_ptr<double>()[n];
  }
  Real& operator()(int64_t i, int64_t c) { return x_[i * columns_ + c]; }
  const Real& operator()(int64_t i, int64_t c) const { return x_[i * columns_ + c]; }
  int64_t rows() const { return static_cast<int64_t>(x_.size()) / columns_; }
  int64_t columns() const { return columns_; }

  // |x - this| / bound, the largest; infinite where x is no number.
  double distance(const at::Tensor& x, const at::Tensor& bound) const {
    const at::Tensor values = x.contiguous(), bounds = bound.contiguous();
    double largest = 0;
    for (size_t n = 0; n < x_.size(); ++n) {
      const double value = values.const_data_ptr<double>()[n];
      const double limit = bounds.const_data_ptr<double>()[n];
      if (isinf(x_[n]) && x_[n] == value)
        continue;
      const double error = static_cast<double>(Real(abs(x_[n] - value)));
      if (std::isnan(error))
        return INFINITY;
      if (error > limit * largest)
        largest = error / limit;
    }
    return largest;
  }

 private:
  int64_t columns_;
  std::vector<Real> x_;
};

Real dot(const Matrix& a, int64_t i, const Matrix& b, int64_t j) {
  Real sum = 0;
  for (int64_t c = 0; c < a.columns(); ++c)
    sum += a(i, c) * b(j, c);
  return sum;
}

// Attention of one query head and its share of the gradients.
struct Head {
  Matrix o, lse, dq;

  Head(const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& d_o, const Mask& mask,
       double scale, Matrix& dk, Matrix& dv)
      : o(q.rows(), v.columns()), lse(q.rows(), 1), dq(q.rows(), q.columns()) {
    for (int64_t i = 0; i < q.rows(); ++i) {
      std::vector<Real> e(k.rows());
      Real sum = 0;
      for (int64_t j = 0; j < k.rows(); ++j)
        if (visible(mask, i, j))
          sum += e[j] = exp(Real(scale * dot(q, i, k, j)));
      lse(i, 0) = sum == 0 ? -std::numeric_limits<Real>::infinity() : Real(log(sum));
      if (sum == 0)
        continue;
      for (int64_t j = 0; j < k.rows(); ++j)
        for (int64_t c = 0; c < v.columns(); ++c)
          o(i, c) += e[j] / sum * v(j, c);
      const Real delta = dot(d_o, i, o, i);
      for (int64_t j = 0; j < k.rows(); ++j) {
        const Real p = e[j] / sum, ds = p * (dot(d_o, i, v, j) - delta);
        for (int64_t c = 0; c < v.columns(); ++c)
          dv(j, c) += p * d_o(i, c);
        for (int64_t c = 0; c < q.columns(); ++c) {
          dq(i, c) += scale * ds * k(j, c);
          dk(j, c) += scale * ds * q(i, c);
        }
      }
    }
  }
};

// The bound of float64 arithmetic is for the difference of two results; the truth has no error.
void expect_true(const Judgement& judged, const Inputs& in, const std::string& where) {
  const int64_t shared = in.q.size(1) / in.k.size(1);
  const auto near = [&](const char* what, const Matrix& truth, Field field, int64_t b, int64_t h) {
    const auto part = [&](const Tensors& t) {
      const at::Tensor x = (t.*field)[b][h];
      return x.dim() == 1 ? x.unsqueeze(1) : x;
    };
    EXPECT_LE(truth.distance(part(judged.value), part(judged.bound) / 2), 1) << where << what;
  };
  for (int64_t b = 0; b < in.q.size(0); ++b)
    for (int64_t kv = 0; kv < in.k.size(1); ++kv) {
      const Matrix k(in.k[b][kv]), v(in.v[b][kv]);
      Matrix dk(k.rows(), k.columns()), dv(v.rows(), v.columns());
      for (int64_t h = kv * shared; h < (kv + 1) * shared; ++h) {
        const Head head(Matrix(in.q[b][h]), k, v, Matrix(in.d_o[b][h]), in.mask, in.scale, dk, dv);
        near(" O", head.o, &Tensors::o, b, h);
        near(" LSE", head.lse, &Tensors::lse, b, h);
        near(" dQ", head.dq, &Tensors::dq, b, h);
      }
      near(" dK", dk, &Tensors::dk, b, kv);
      near(" dV", dv, &Tensors::dv, b, kv);
    }
}

constexpr Shape kShape{.batch = 1, .q_heads = 4, .kv_heads = 2, .seq = 20, .dim = 6, .dim_v = 4};

TEST(Reference, IsTrueToAHundredDigits) {
  for (const auto& [name, mask] : masks(kShape.seq))
    for (const Family family : kFamilies) {
      const Inputs inputs = draw(kShape, mask, 3, family);
      const std::string where = name + ", " + name_of(family) + ":";
      expect_true(judge(inputs, float64_contract(), 1, Rope{}, {.rows = 8, .columns = 5}), inputs,
                  where);
    }
}

TEST(NaiveReference, IsTrueToAHundredDigits) {
  for (const auto& [name, mask] : masks(kShape.seq)) {
    const Inputs inputs = draw(kShape, mask, 4);
    Judgement judged = judge(inputs, float64_contract(), 1, Rope{});
    judged.value = naive_attention(inputs);
    expect_true(judged, inputs, name + ":");
  }
}

// The comparison notices one part in 10^12.
TEST(Reference, WrongDigitsAreFound) {
  const Inputs in = draw(kShape, {Causal{}, kShape.seq}, 5);
  const Judgement judged = judge(in, float64_contract(), 1, Rope{});
  Matrix dk(kShape.seq, kShape.dim), dv(kShape.seq, kShape.dim_v);
  const Head head(Matrix(in.q[0][0]), Matrix(in.k[0][0]), Matrix(in.v[0][0]), Matrix(in.d_o[0][0]),
                  in.mask, in.scale, dk, dv);
  const at::Tensor o = judged.value.o[0][0], bound = judged.bound.o[0][0] / 2;
  EXPECT_LE(head.o.distance(o, bound), 1);
  EXPECT_GT(head.o.distance(o * (1 + 1e-12), bound), 1);
}

// Scores far apart: the weights of all keys but one vanish, and none of it overflows.
TEST(Reference, ExtremeScoresAreTrue) {
  for (const double scale : {1., 100., 1e4}) {
    Inputs inputs = draw(kShape, {Causal{}, kShape.seq}, 6);
    inputs.scale = scale;
    expect_true(judge(inputs, float64_contract(), 1, Rope{}), inputs,
                "scale " + std::to_string(scale) + ":");
  }
}

}  // namespace
}  // namespace ringcheck::reference_testing
