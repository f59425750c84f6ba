// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_verdicts.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <limits>

namespace ringcheck::parity {
namespace {

// Three ranks of four positions, in order. Two batch entries of two key-value heads, each read by
// two query heads, of four channels: 384 elements.
constexpr int64_t kSeq = 12, kOfRank = 4, kPairs = 4, kShared = 2, kDim = 4;
constexpr int64_t kElements = kPairs * kShared * kSeq * kDim;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool near(double found, double known) {
  return std::abs(found - known) <= 1e-9 * std::max(1.0, std::abs(known));
}

// Values of 1 and -1, of which nothing is off.
struct Elements {
  at::Tensor value, actual, bound, sigma;

  explicit Elements(double bounds = 1, double sigmas = 1e-3) {
    value = (1 - 2 * at::arange(kElements).remainder(2))
                .to(at::kDouble)
                .view({kPairs, kShared, kSeq, kDim});
    actual = value.clone();
    bound = at::full_like(value, bounds);
    sigma = at::full_like(value, sigmas);
  }
  // An element of this position, another batch entry, head and channel at each.
  static at::Tensor at_position(const at::Tensor& x, int64_t p) {
    return x[p % kPairs][p % kShared][p][p % kDim];
  }
  static at::Tensor of_rank(const at::Tensor& x, int64_t rank) {
    return x.narrow(2, rank * kOfRank, kOfRank);
  }
  Compared pairs(int64_t begin, int64_t size) const {
    const auto some = [&](const at::Tensor& x) { return x.narrow(0, begin, size); };
    return {some(actual), some(value), some(bound), some(sigma), begin, flatten({{0, kSeq}})};
  }
};

class Examination {
 public:
  Examination(const JudgeArithmetic& arithmetic, SelfTest& result)
      : arithmetic_(arithmetic), result_(result) {
    test_.balance = "contiguous";
    test_.world = 3;
    test_.batch = 2;
    test_.seq = kSeq;
    test_.dim = test_.dim_v = kDim;
  }

  void limits() const {
    for (int64_t p = 0; p < kSeq; ++p) {
      const auto off = [&](double bounds, double sigmas, double error) {
        Elements e(bounds, sigmas);
        Elements::at_position(e.actual, p).add_(error);
        return verdict(e);
      };
      const std::string where = c10::str(" at position ", p);
      demand(off(1, 1e-3, 7e-3).status == Status::kPass, "refuses 7 sigma" + where);
      demand(off(1e-3, 1e-2, -0.999e-3).status == Status::kPass,
             "refuses less than a bound" + where);
      accuses(off(1, 1e-3, -9e-3), p, "9 sigma" + where);
      accuses(off(1e-3, 1e-2, 1.002e-3), p, "1.002 bounds" + where);
      accuses(off(1, 1e-3, NAN), p, "a NaN" + where);
      accuses(off(1, 1e-3, kInfinity), p, "an infinity" + where);
    }
  }

  // Where no error is allowed there is none, and no statistic.
  void exact_elements() const {
    const auto says = [&](double value, double actual) {
      Elements e;
      Elements::at_position(e.value, kSeq - 1).fill_(value);
      Elements::at_position(e.actual, kSeq - 1).fill_(actual);
      for (const at::Tensor& x : {e.bound, e.sigma})
        Elements::at_position(x, kSeq - 1).zero_();
      return verdict(e).status;
    };
    demand(says(0.5, 0.5) == Status::kPass, "refuses equal numbers");
    demand(says(0, -0.0) == Status::kPass, "tells -0 from 0");
    demand(says(-kInfinity, -kInfinity) == Status::kPass, "refuses equal infinities");
    demand(says(-kInfinity, kInfinity) == Status::kFail, "accepts the other infinity");
    demand(says(-kInfinity, -1e300) == Status::kFail, "accepts a number for an infinity");
    demand(says(0.5, std::nextafter(0.5, 1)) == Status::kFail,
           "accepts one unit in the last place");
  }

  // 7 of 384 elements are 1.8 % of the energy, 8 are 2.1 %.
  void vacuity() const {
    const auto with = [&](int64_t count, double sigmas) {
      Elements e;
      for (int64_t i = 0; i < count; ++i)
        e.sigma.view(-1)[47 * i + 3] = sigmas;
      return verdict(e);
    };
    demand(with(7, 1 / 7.9).status == Status::kPass, "finds it too much that a zero passes for 1.8 % of the energy");
    demand(with(8, 1 / 7.9).status == Status::kInconclusive, "counts what a zero would pass");
    demand(with(8, 1 / 8.1).status == Status::kPass, "finds vacuous what is 8.1 sigma");
    demand(near(with(8, 1 / 7.9).vacuity, 8.0 / kElements), "counts another share of the energy for which a zero passes");
    Elements small;  // by energy, not by number
    small.value.view(-1).narrow(0, 0, 100).mul_(1e-3);
    small.actual = small.value.clone();
    demand(verdict(small).status == Status::kPass, "weighs elements, not their energy");
  }

  // A rank with two runs of positions has two chunks.
  void chunks() const {
    for (const auto& [balance, slots] : {std::pair("contiguous", kOfRank), {"headtail", kOfRank / 2}}) {
      Examination balanced(*this);
      balanced.test_.balance = balance;
      for (int64_t begin = 0; begin < kSeq; begin += slots) {
        Elements e;
        e.sigma.narrow(2, begin, slots).fill_(1);
        const TensorVerdict found = balanced.verdict(e);
        demand(found.chunks == kSeq / slots && found.chunks_counted == found.chunks - 1,
               c10::str("counts the ", balance, " chunk at position ", begin, ", where a zero would pass"));
      }
    }
  }

  // All rows and channels of a tensor of many come into its sums.
  void sums() const {
    const at::Tensor value = at::ones({5, 7, kSeq, 300}, at::kDouble), z = at::arange(value.numel(), at::kDouble).sin().view_as(value);
    const at::Tensor sigma = at::ones_like(value);
    const Tally found = arithmetic_.tally({value + z, value, sigma * 100, sigma, 0, flatten({{0, kSeq}})}, kSeq);
    demand(std::abs(found.z_squares - z.square().sum().item<double>()) <= 1e-6 * found.z_squares, "sums other squares than those of all elements");
  }
  // A chunk in which a zero would pass for 6 % of the energy.
  void parts_of_chunks() const {
    for (int64_t rank = 0; rank < 3; ++rank) {
      Elements e;
      e.sigma.narrow(2, rank * kOfRank, 1).select(3, 0).fill_(1);
      const TensorVerdict found = verdict(e);
      demand(found.chunks_counted == 2, c10::str("counts a chunk of rank ", rank, " in which a zero passes for 6 %"));
    }
  }

  // An element by its number in the tensor.
  void places() const {
    const std::string found = place_of(test_, {2, 3, kSeq, kDim}, ((1 * 3 + 2) * kSeq + 5) * kDim + 3);
    demand(found == "rank 1 (chunk 0), batch 1, head 2, position 5, channel 3", "finds an element at " + found);
  }

  // Half a sigma everywhere, all of one sign on one rank.
  void figures() const {
    for (int64_t rank = 0; rank < 3; ++rank)
      for (const double lean : {0.5, -0.5}) {
        Elements e;
        const at::Tensor z = at::full_like(e.value, lean);  // values have either sign: no bias
        Elements::of_rank(z, rank).mul_(Elements::of_rank(e.value, rank));
        e.actual = e.value + z * e.sigma;
        const TensorVerdict found = verdict(e);
        demand(near(found.bias, lean * std::sqrt(kElements / 3.0)),
               c10::str("sees another bias of rank ", rank));
        demand(near(found.rms_z, 0.5) && near(found.max_z, 0.5), "takes another z");
        demand(near(found.hard_ratio, 0.5e-3) && near(found.max_abs, 0.5e-3) &&
                   near(found.relative, 0.5e-3),
               "takes another error");
      }
  }

  // The sum of parts is the whole, wherever the wrong element is.
  void parts() const {
    for (int64_t p = 0; p < kPairs; ++p)
      for (int64_t first = 1; first < kPairs; ++first) {
        Elements e;
        Elements::at_position(e.actual, p).add_(9e-3);
        e.sigma.select(0, p).select(0, 1 - p % kShared).fill_(1);
        Tally sum = arithmetic_.tally(e.pairs(0, first), kSeq);
        sum.add(arithmetic_.tally(e.pairs(first, kPairs - first), kSeq));
        const TensorVerdict whole = verdict(e), added = verdict(sum);
        demand(added.status == whole.status && added.worst == whole.worst &&
                   added.worst_rank == whole.worst_rank &&
                   added.chunks_counted == whole.chunks_counted,
               "says other things of a tensor in parts");
        for (double TensorVerdict::*figure :
             {&TensorVerdict::max_abs, &TensorVerdict::relative, &TensorVerdict::rms_z,
              &TensorVerdict::max_z, &TensorVerdict::hard_ratio, &TensorVerdict::bias,
              &TensorVerdict::vacuity})
          demand(near(added.*figure, whole.*figure), "has other figures of a tensor in parts");
      }
  }

 private:
  TensorVerdict verdict(const Tally& tally) const {
    return arithmetic_.judge(test_, "o", {tally, 2, kShared});
  }
  TensorVerdict verdict(const Elements& e) const {
    return verdict(arithmetic_.tally(e.pairs(0, kPairs), kSeq));
  }
  void demand(bool met, const std::string& otherwise) const {
    result_.demand(met, "the judge " + otherwise);
  }
  // A failure that names the place.
  void accuses(const TensorVerdict& found, int64_t position, const std::string& what) const {
    const int64_t pair = position % kPairs, shared = position % kShared;
    const std::string rank = c10::str("rank ", position / kOfRank),
                      at = c10::str("position ", position, ","),
                      head = c10::str("batch ", pair / 2, ", head ", pair % 2 * kShared + shared, ",");
    demand(found.status == Status::kFail, "accepts " + what);
    demand(found.worst.find(rank) != std::string::npos &&
               found.worst.find(at) != std::string::npos &&
               found.worst.find(head) != std::string::npos &&
               found.worst_rank == position / kOfRank,
           "does not say where is " + what);
  }

  const JudgeArithmetic& arithmetic_;
  SelfTest& result_;
  Case test_;
};

}  // namespace

void examine_elements(const JudgeArithmetic& arithmetic, SelfTest& result) {
  const Examination examination(arithmetic, result);
  examination.limits();
  examination.exact_elements();
  examination.vacuity();
  examination.chunks();
  examination.places();
  examination.sums();
  examination.parts_of_chunks();
  examination.figures();
  examination.parts();
}

}  // namespace ringcheck::parity
