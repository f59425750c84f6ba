// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/Context.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// LibTorch fills what it allocates without a value, with NaN, or does not; as it was afterwards. It
// does so only among deterministic algorithms.
class Filling {
 public:
  explicit Filling(bool on) {
    context_.setDeterministicAlgorithms(true, true);
    context_.setDeterministicFillUninitializedMemory(on);
  }
  ~Filling() {
    context_.setDeterministicFillUninitializedMemory(filled_);
    context_.setDeterministicAlgorithms(algorithms_, warned_);
  }
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;

 private:
  at::Context& context_ = at::globalContext();
  bool algorithms_ = context_.deterministicAlgorithms();
  bool warned_ = context_.deterministicAlgorithmsWarnOnly();
  bool filled_ = context_.deterministicFillUninitializedMemory();
};

// The setting is the process's: of ranks that are threads the first one makes it, while all wait.
Surroundings filling(bool on) {
  return [on](Communicator& comm, const Case& test) {
    const bool own_process = test.world_kind != "thread";
    comm.agree_max(int64_t{0});
    std::shared_ptr<void> setting;
    if (own_process || comm.rank() == 0) setting = std::make_shared<Filling>(on);
    comm.agree_max(int64_t{0});
    return setting;
  };
}

Run filled(const Case& test, bool on) {
  Run run{test};
  run.surroundings = filling(on);
  return run;
}

std::vector<Run> runs(const Case& test) {
  return {filled(test, false), filled(test, true)};
}

OracleVerdict judge(const Evidence& e) {
  return identical(e.test, e.variations[1].tensors, e.variations[0].tensors);
}

const Oracles::Add registered{
    "poison",
    {"memory that is allocated without a value, filled with NaN, changes no bit of F", judge, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
