// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/runner.h"

#include <ATen/ATen.h>

#include <vector>

#include "cp/clock.h"
#include "cp/error.h"
#include "parity/case/case_space.h"
#include "parity/case/devices/on_device.h"
#include "parity/judge/comparison.h"
#include "parity/judge/diagnosis/diagnosis.h"
#include "parity/subject/out_of_memory.h"

namespace ringcheck::parity {
namespace {

// A case that cannot run has its verdict before it starts.
std::optional<Verdict> refused(const Case& test, const Subject& subject, const World& world) {
  auto reason = world.refuses(test);
  if (!reason) reason = refuses(test, subject);
  if (!reason) return std::nullopt;
  Verdict verdict;
  verdict.test = test;
  verdict.status = Status::kNotSupported;
  verdict.reason = *reason;
  return verdict;
}

// A core judges a small case sooner than a GPU takes the thousands of small steps, each of which waits for
// those of other processes.
constexpr int64_t kLittleWork = 250'000'000;

void move_to_cpu(Outcome& outcome) {
  std::vector<at::Tensor*> all{&outcome.q_rotated, &outcome.k_rotated};
  for (const auto& [name, tensor] : kTensors) all.push_back(&(outcome.tensors.*tensor));
  for (auto& [name, tensor] : outcome.others) all.push_back(&tensor);
  for (at::Tensor* tensor : all)
    if (tensor->defined()) *tensor = tensor->cpu();
}

// Where each outcome is judged.
void place(const Case& test, Observed& observed) {
  if (work_of(test) > kLittleWork) return;
  move_to_cpu(observed.outcome);
  for (auto& [oracle, runs] : observed.variations)
    for (Outcome& run : runs) move_to_cpu(run);
}

at::Device device_of(const Outcome& outcome) {
  for (const auto& [name, tensor] : kTensors)
    if ((outcome.tensors.*tensor).defined()) return (outcome.tensors.*tensor).device();
  return at::kCPU;
}

// Judging needs memory, too; where there is too little of it, nothing is known about the subject.
Verdict judged_within_memory(const Trial& trial, const Observed& observed) {
  const Case& test = trial.test;
  const at::Device device = device_of(observed.outcome);
  try {
    return within_memory(test, 0, device.type(), modelled_bytes, [&] {
      trial.tick();
      return judged(trial, problem_on(device, test, {{0, test.seq}}), observed);
    });
  } catch (const OutOfMemory& error) {
    Verdict verdict;
    verdict.test = test;
    verdict.status = Status::kInconclusive;
    verdict.reason = std::string("not judged, as the reference ran ") + error.what();
    verdict.ranks = observed.outcome.ranks;
    return verdict;
  }
}

Verdict failed(const Case& test, const RankFailure& failure) {
  Verdict verdict;
  verdict.test = test;
  verdict.status = failure.hang() ? Status::kHang : Status::kCrash;
  verdict.reason = failure.what();
  return verdict;
}

}  // namespace

std::optional<Verdict> verify(const Case& test, World& world, const RunOptions& options) {
  const SharedSubject subject = options.subject ? options.subject : subject_of(test);
  if (auto verdict = refused(test, *subject, world)) return world.is_first() ? verdict : std::nullopt;
  validate(subject->promise(test), test.subject);
  const auto begin = Clock::now();
  const Trial trial{test, *subject, oracles_for(options.judging, test, *subject),
                    options.judging.sample, [&] {
                      if (options.observer) options.observer(0, {"judge"});
                    },
                    options.judging.kept};
  try {
    auto observed = observe(test, *subject, world, trial.oracles, options.timelines);
    if (!observed) return std::nullopt;
    place(test, *observed);
    Verdict verdict = judged_within_memory(trial, *observed);
    if (options.explained)
      explain(verdict, [&] { return problem_of(test); }, observed->outcome, trial.tick);
    verdict.seconds = seconds_since(begin);
    if (options.failed && verdict.status == Status::kFail)
      options.failed(trial, *observed, verdict);
    return verdict;
  } catch (const RankFailure& failure) {
    Verdict verdict = failed(test, failure);
    verdict.seconds = seconds_since(begin);
    return verdict;
  }
}

Verdict verify(const Case& test, const RunOptions& options) {
  ThreadRanks threads(options.deadline, options.observer);
  return verify(test, threads, options).value();
}

}  // namespace ringcheck::parity
