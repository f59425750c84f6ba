// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/calibration/charts.h"

#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/judge/runner.h"

namespace ringcheck::parity {
namespace {

constexpr uint64_t kFirstSeed = 1000;

struct Series {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
  double standard_deviation() const {
    double sum = 0;
    for (const double v : values) sum += (v - mean()) * (v - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
};

// The same subject, held to its bounds alone: not to the charts that are measured anew.
class Uncharted final : public Subject {
 public:
  explicit Uncharted(const Subject& subject) : subject_(subject) {}
  std::optional<std::string> refuses(const Case& test) const override { return subject_.refuses(test); }
  Promise promise(const Case& test) const override {
    Promise promise = subject_.promise(test);
    promise.charts.clear();
    return promise;
  }
  RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const override {
    return subject_.run(comm, test, input);
  }

 private:
  const Subject& subject_;
};

std::string why(const Verdict& verdict) {
  for (const OracleVerdict& oracle : verdict.oracles)
    if (!oracle.findings.empty()) return oracle.name + ": " + oracle.findings.front();
  return verdict.reason;
}

// By parity alone, without LSE, which is never rounded to 16 bits.
std::vector<TensorVerdict> judged(const Case& test, const RunOptions& options) {
  const Verdict verdict = verify(test, options);
  if (verdict.status != Status::kPass)
    throw BadCase(c10::str("seed ", test.seed, " is no pass but ", to_text(verdict.status), " (",
                           why(verdict), ") in ", to_text(test),
                           ": charts are of what is right; correct the kernel, or its contract"));
  std::vector<TensorVerdict> tensors;
  for (const OracleVerdict& oracle : verdict.oracles)
    for (const TensorVerdict& tensor : oracle.tensors)
      if (oracle.name == "parity" && tensor.tensor != "lse") tensors.push_back(tensor);
  return tensors;
}

}  // namespace

std::map<std::string, Chart> measured_charts(Case test, int seeds, const Subject& subject,
                                             const std::function<void()>& done) {
  if (seeds < kFewestSeeds)
    throw BadCase(c10::str(seeds, " seeds: a calibration needs at least ", kFewestSeeds));
  RunOptions options;
  options.subject = std::make_shared<Uncharted>(subject);
  options.judging.oracles = {"parity"};
  std::map<std::string, Series> rms, bias;
  for (int seed = 0; seed < seeds; ++seed) {
    test.seed = kFirstSeed + static_cast<uint64_t>(seed);
    for (const TensorVerdict& tensor : judged(test, options)) {
      rms[tensor.tensor].values.push_back(tensor.rms_z);
      bias[tensor.tensor].values.push_back(std::abs(tensor.bias));
    }
    done();
  }
  std::map<std::string, Chart> charts;
  for (const auto& [tensor, z] : rms) {
    const Series& leaning = bias[tensor];
    if (!(leaning.mean() <= kMostBias))
      throw BadCase(c10::str(tensor, " has a mean bias of ", leaning.mean(), ", above ", kMostBias,
                             ", in ", chart_key(test), ": its errors are systematic, and a chart would "
                             "take others like them for right; correct the kernel, or its contract"));
    charts[tensor] = {z.mean(), z.standard_deviation(), leaning.mean(),
                      leaning.standard_deviation()};
  }
  return charts;
}

}  // namespace ringcheck::parity
