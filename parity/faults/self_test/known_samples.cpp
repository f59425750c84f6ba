// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/faults/self_test/spoilt.h"
#include "parity/judge/against_reference.h"
#include "parity/judge/sampling.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kCase = "causal/P3/b1/hq2/hkv1/s15/d4/dv6/float64";
constexpr int64_t kMost = 7;  // of 15 positions
constexpr uint64_t kSeeds = 200;

class Examination {
 public:
  Examination(int64_t sample, const AskOracle& judge, SelfTest& result)
      : known_(parse_case(kCase)),
        sample_(std::min(sample, kMost)),
        judge_(judge),
        result_(result) {}

  void run() const {
    demand(judged(known_.clean) == Status::kPass, "refused a clean outcome");
    for (const NamedTensor& named : kTensors) {
      for (const Spoilt& wrong : spoilt(known_, named.name))
        if (is_everywhere(wrong))
          demand(judged(wrong.outcome) == Status::kFail,
                 c10::str("accepted ", named.name, " replaced: ", wrong.how));
      look_at_each_position(named);
    }
    look_everywhere();
  }

 private:
  // Another tensor, not another element.
  static bool is_everywhere(const Spoilt& wrong) {
    return wrong.seen != Spoilt::Seen::kClosely && !wrong.how.starts_with("NaN");
  }
  void look_at_each_position(const NamedTensor& named) const {
    const uint64_t seed = known_.test.seed;
    const std::vector<int64_t> looked_at =
        drawn_positions(known_.test.seq, sample_, is_of_keys(named) ? ~seed : seed);
    demand(std::ssize(looked_at) == sample_, c10::str("looks at ", looked_at.size(), " positions of ", named.name));
    for (const int64_t position : looked_at) {
      Outcome wrong = known_.clean;
      at::Tensor& x = *find(wrong, named.name);
      x = x.clone();
      x.select(2, position)[-1][-1].fill_(NAN);
      demand(judged(wrong) == Status::kFail,
             c10::str("accepted NaN in ", named.name, " at position ", position));
    }
  }
  // No position is spared, though a sample has one alone.
  void look_everywhere() const {
    std::set<int64_t> looked_at;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed)
      for (const int64_t position : drawn_positions(known_.test.seq, 1, seed)) looked_at.insert(position);
    demand(std::ssize(looked_at) == known_.test.seq,
           c10::str("spares positions: samples of one under ", kSeeds, " seeds look at ", looked_at.size(), " of ", known_.test.seq));
  }
  Status judged(const Outcome& outcome) const {
    const std::vector<Outcome> none;
    return judge_(Oracles::at("parity"), {known_.test, plain::subject(), known_.problem, outcome,
                                          none, [] {}, sample_})
        .status;
  }
  void demand(bool met, const std::string& otherwise) const {
    result_.demand(met, c10::str("a sample of ", sample_, " ", otherwise, " in ", kCase));
  }

  const Known known_;
  int64_t sample_;
  const AskOracle& judge_;
  SelfTest& result_;
};

}  // namespace

void examine_sample(int64_t sample, const AskOracle& judge, SelfTest& result) {
  Examination(sample, judge, result).run();
}

}  // namespace ringcheck::parity
