// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>

#include "parity/faults/self_test/known_verdicts.h"

namespace ringcheck::parity {
namespace {

// CHART and BIAS: 6 standard deviations, 3 % of the mean at least.
void examine_charts(const JudgeArithmetic& arithmetic, SelfTest& result) {
  const auto says = [&](double rms_sd, double rms_z, double bias) {
    Promise promise;
    promise.charts["o"] = {.rms_mean = 1, .rms_sd = rms_sd, .bias_mean = 2, .bias_sd = 0.1};
    TensorVerdict verdict;
    verdict.tensor = "o";
    verdict.rms_z = rms_z;
    verdict.bias = bias;
    return arithmetic.charted(promise, verdict).status;
  };
  for (const double side : {1.0, -1.0}) {
    result.demand(says(0.01, 1 + side * 0.059, 2 * side) == Status::kPass &&
                      says(0, 1 + side * 0.029, 2 * side) == Status::kPass &&
                      says(0.01, 1, 2 + side * 0.59) == Status::kPass,
                  "the judge refuses what its chart expects");
    result.demand(says(0.01, 1 + side * 0.061, 2 * side) == Status::kFail &&
                      says(0, 1 + side * 0.031, 2 * side) == Status::kFail,
                  "the judge accepts an RMS z that its chart does not expect");
    result.demand(says(0.01, 1, 2 + side * 0.61) == Status::kFail,
                  "the judge accepts a bias that its chart does not expect");
  }
  TensorVerdict other;
  other.tensor = "lse";
  other.rms_z = 5;
  result.demand(arithmetic.charted({}, other).status == Status::kPass,
                "the judge refuses what has no chart");
}

// What is said of many: one failure is one, and what nobody judged does not pass.
void examine_statuses(const JudgeArithmetic& arithmetic, SelfTest& result) {
  using enum Status;
  struct Row {
    std::vector<Status> parts;
    Status of_tensors, of_oracles;
  };
  for (const Row& row : std::initializer_list<Row>{
           {{kPass, kPass}, kPass, kPass},
           {{kPass, kPass, kFail}, kFail, kFail},
           {{kFail, kPass, kInconclusive}, kFail, kFail},
           {{kInconclusive, kPass}, kInconclusive, kInconclusive},
           {{kPass, kInconclusive}, kInconclusive, kInconclusive},
           {{kNotApplicable, kFail}, kFail, kFail},
           {{kNotApplicable, kNotApplicable}, kNotApplicable, kInconclusive}}) {
    std::vector<TensorVerdict> tensors(row.parts.size());
    std::vector<OracleVerdict> oracles(row.parts.size());
    for (size_t i = 0; i < row.parts.size(); ++i)
      tensors[i].status = oracles[i].status = row.parts[i];
    result.demand(arithmetic.status_of(tensors) == row.of_tensors,
                  "the judge says other things of tensors than of each");
    result.demand(arithmetic.overall(oracles) == row.of_oracles,
                  "the judge says other things of a case than its oracles");
  }
  // Whatever it is about, a failure fails; only a relation may show nothing beside others.
  for (const About about : {About::kValues, About::kRelation, About::kForm})
    for (const Status status : {kFail, kInconclusive}) {
      std::vector<OracleVerdict> oracles(2);
      oracles[0].status = kPass;
      oracles[1].status = status;
      oracles[1].about = about;
      const bool heard = status == kFail || about != About::kRelation;
      result.demand(arithmetic.overall(oracles) == (heard ? status : kPass),
                    "the judge hears an oracle otherwise by what it is about");
    }
  // Values that nobody judged are not right because their form is.
  OracleVerdict form, values;
  form.status = kPass;
  form.about = About::kForm;
  values.status = kNotApplicable;
  for (const std::vector<OracleVerdict>& oracles : {std::vector{form}, std::vector{form, values}})
    result.demand(arithmetic.overall(oracles) == kInconclusive, "the judge passes a case of which form alone was judged");
}

// What no oracle speaks of is judged by nobody; of the others the best counts, rank by rank.
void examine_judges(SelfTest& result) {
  using enum JudgedBy;
  const auto says = [](About about, const std::vector<JudgedBy>& ranks) {
    OracleVerdict verdict;
    verdict.about = about;
    verdict.tensors.resize(1);
    verdict.tensors[0].tensor = "o";
    verdict.tensors[0].judged_by = ranks;
    return verdict;
  };
  const std::vector<JudgedBy> nobody{kNobody, kNobody};
  for (const auto& [name, ranks] : judged_of({}, 2))
    result.demand(ranks == nobody, name + " is said to be judged where no oracle was asked");
  const auto judged = judged_of({says(About::kValues, {kBounded, kNobody}), says(About::kValues, {kNoToken, kExact}),
                                 says(About::kRelation, {kExact, kExact})}, 2);
  result.demand(judged.at("o") == std::vector{kBounded, kExact},
                "another one than the best of its oracles is said to have judged o");
  result.demand(judged.at("dq") == nobody, "dq is said to be judged where no oracle speaks of it");
}

}  // namespace

void examine_rules(const JudgeArithmetic& arithmetic, SelfTest& result) {
  examine_charts(arithmetic, result);
  examine_statuses(arithmetic, result);
  examine_judges(result);
}

}  // namespace ringcheck::parity
