// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/sensitivity.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "parity/judge/comparison.h"
#include "parity/faults/peer_test.h"
#include "parity/faults/planted.h"
#include "parity/judge/truth.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

constexpr int kStepsADecade = 8;
constexpr int kDecades = 19;          // 1e-17 ... 1e2
constexpr int kEnd = kDecades * kStepsADecade;
constexpr double kSmallest = 1e-17;
constexpr double kConfidence = 0.95;

double epsilon_of(int step) {
  return kSmallest * std::pow(10.0, static_cast<double>(step) / kStepsADecade);
}

// Who detects, by name.
using Detected = std::map<std::string, bool>;

// What is known of a correct run of one seed.
struct Trial {
  Case test;
  Problem problem;
  Outcome clean;
  Outcome alone;  // on one rank
  reference::Judgement truth;
  reference::Tensors eager;
  std::vector<reference::Tensors> perturbed;
};

Outcome solved(const Case& test, const SharedSubject& subject) {
  return solve_on_threads({test}, *subject);
}

Case on_one_rank(Case test) {
  test.world = 1;
  return test;
}

Trial trial_of(const Case& test, int seed) {
  Trial trial;
  trial.test = test;
  trial.test.seed = static_cast<uint64_t>(seed);
  trial.problem = problem_of(trial.test);
  trial.clean = solved(trial.test, ours());
  trial.alone = solved(on_one_rank(trial.test), ours());
  trial.truth = truth_of(trial.test, ours()->promise(trial.test), trial.problem, trial.clean, {});
  trial.eager = eager_attention(trial.test, trial.problem);
  trial.perturbed = perturbed_attention(trial.test, trial.problem);
  return trial;
}

// So wide that its law refuses nothing, where it allows any error at all.
at::Tensor limitless(const at::Tensor& allowed) {
  return allowed.masked_fill(allowed.gt(0), std::numeric_limits<double>::infinity());
}

// By verdict: of each law alone, and of all.
void we_detect(const Trial& trial, const NamedTensor& named, const at::Tensor& actual,
               Detected& detected) {
  const auto field = named.tensor;
  const at::Tensor &bound = trial.truth.bound.*field, &sigma = trial.truth.sigma.*field;
  const auto verdict = [&](const at::Tensor& bounds, const at::Tensor& sigmas) {
    return compare(trial.test, named.name, actual, trial.truth.value.*field, bounds, sigmas);
  };
  const TensorVerdict whole = verdict(bound, sigma);
  TensorVerdict chart = whole;
  chart.status = Status::kPass;
  const Promise promise = ours()->promise(trial.test);
  const auto refused = [](const TensorVerdict& said) { return said.status == Status::kFail; };
  detected["hard"] |= refused(verdict(bound, limitless(sigma)));
  detected["stat"] |= refused(verdict(limitless(bound), sigma));
  detected["chart"] |= refused(charted(promise, chart));
  detected["parity"] |= refused(charted(promise, whole));
}

void others_detect(const Trial& trial, const NamedTensor& named, const at::Tensor& actual,
                   const at::Tensor& alone, Detected& detected) {
  Exhibit exhibit{trial.test, named.name, actual.to(at::kDouble), alone.to(at::kDouble),
                        trial.truth.value.*named.tensor,
                        (trial.eager.*named.tensor).to(at::kDouble), {}};
  for (const reference::Tensors& run : trial.perturbed)
    exhibit.perturbed.push_back((run.*named.tensor).to(at::kDouble));
  for (const auto& [name, peer] : PeerTests::all())
    if (const auto accepted = peer.accepts(exhibit)) detected[name] |= !*accepted;
}

// The smallest step that is seen, if those above a seen one are seen, too; the last one is. From a
// guess outwards, then by bisection.
int first_seen(const std::function<bool(int)>& seen, int guess) {
  int low = 0, high = kEnd;
  const auto ask = [&](int step) {
    const bool yes = seen(step);
    if (yes) high = step;
    else low = step + 1;
    return yes;
  };
  const bool down = ask(guess);
  for (int stride = 1; low < high; stride *= 2) {
    const int step = down ? std::max(guess - stride, low) : std::min(guess + stride, high - 1);
    if (ask(step) != down) break;
  }
  while (low < high) ask((low + high) / 2);
  return high;
}

using Detect = std::function<Detected(double epsilon)>;
using Steps = std::map<std::string, int>;

// The smallest step of the grid at which each detector detects; one behind the last if none is.
// The guesses are those of another trial, or none.
Steps thresholds(const Detect& detect, const Steps& guesses) {
  std::map<int, Detected> known;
  const auto at = [&](int step) -> const Detected& {
    auto found = known.find(step);
    if (found == known.end()) found = known.emplace(step, detect(epsilon_of(step))).first;
    return found->second;
  };
  Steps result;
  for (const auto& [name, seen] : at(kEnd)) {
    const auto guess = guesses.find(name);
    const auto sees = [&](int step) {
      const auto found = at(step).find(name);
      return found != at(step).end() && found->second;
    };
    result[name] = !seen ? kEnd + 1
                         : first_seen(sees, guess == guesses.end() ? kEnd / 2
                                                                   : std::min(guess->second, kEnd));
  }
  return result;
}

// One row of the table: thresholds of every trial, of which the limit is the 95 % quantile.
class Row {
 public:
  Row(at::ScalarType dtype, std::string what, std::string scope)
      : dtype_(dtype), what_(std::move(what)), scope_(std::move(scope)) {}
  // One trial more, near the one before it.
  void add(const Detect& detect) {
    last_ = thresholds(detect, last_);
    for (const auto& [by, step] : last_) steps_[by].push_back(step);
  }
  void append_to(std::vector<Limit>& limits) {
    for (auto& [by, steps] : steps_) {
      std::sort(steps.begin(), steps.end());
      const auto needed = static_cast<size_t>(
          std::ceil(kConfidence * static_cast<double>(steps.size())));
      const int step = steps.at(needed - 1);
      Limit limit{dtype_text(dtype_), what_, scope_, by, {}};
      if (step <= kEnd) limit.epsilon = epsilon_of(step);
      limits.push_back(limit);
    }
  }

 private:
  at::ScalarType dtype_;
  std::string what_, scope_;
  std::map<std::string, std::vector<int>> steps_;
  Steps last_;
};

Detect in_tensor(const Trial& trial, const NamedTensor& named, const std::string& scope,
                 bool others) {
  const at::Tensor clean = trial.clean.tensors.*named.tensor;
  const at::Tensor alone = trial.alone.tensors.*named.tensor;
  const at::Tensor where = planted_where(trial.test, clean, scope);
  return [=, &trial](double epsilon) {
    Detected detected;
    const at::Tensor actual = planted(clean, where, epsilon);
    we_detect(trial, named, actual, detected);
    if (others)
      others_detect(trial, named, actual,
                    scope == "tensor" ? planted(alone, where, epsilon) : alone, detected);
    return detected;
  };
}

Detect inside(const Trial& trial, const std::string& what, bool others) {
  return [&trial, what, others](double epsilon) {
    const SharedSubject wrong = slightly_wrong(what, epsilon);
    const Outcome outcome = solved(trial.test, wrong);
    const Outcome alone = others ? solved(on_one_rank(trial.test), wrong) : Outcome();
    Detected detected;
    for (const NamedTensor& named : kTensors) {
      const at::Tensor& actual = outcome.tensors.*named.tensor;
      we_detect(trial, named, actual, detected);
      if (others) others_detect(trial, named, actual, alone.tensors.*named.tensor, detected);
    }
    return detected;
  };
}

}  // namespace

Case sensitivity_case(at::ScalarType dtype, const std::string& kernel) {
  Case test;
  test.dtype = dtype;
  test.kernel = kernel;
  test.mask = Causal{};
  return test;
}

std::vector<Limit> sensitivity(const SensitivityOptions& options) {
  std::vector<Limit> limits;
  std::string refused;
  for (const at::ScalarType dtype : options.dtypes) {
    const Case test = sensitivity_case(dtype, options.kernel);
    validate(test);
    if (const auto reason = not_supported(test)) {
      refused = *reason;
      continue;
    }
    std::vector<Row> rows;
    for (int seed = 1; seed <= options.trials; ++seed) {
      const Trial trial = trial_of(test, seed);
      size_t next = 0;
      const auto measure = [&](const std::string& what, const std::string& scope,
                               const Detect& detect) {
        if (seed == 1) rows.emplace_back(dtype, what, scope);
        rows.at(next++).add(detect);
      };
      for (const NamedTensor& named : kTensors)
        for (const std::string& scope : plant_scopes())
          measure(named.name, scope, in_tensor(trial, named, scope, options.others));
      for (const std::string& what : inner_plants())
        measure(what, "inside", inside(trial, what, options.others));
      if (options.tick) options.tick();
    }
    for (Row& row : rows) row.append_to(limits);
  }
  if (limits.empty()) throw BadCase(refused);
  return limits;
}

}  // namespace ringcheck::parity
