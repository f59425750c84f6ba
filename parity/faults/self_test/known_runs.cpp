// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

#include "cp/worlds/thread_world.h"
#include "parity/faults/self_test/known_relations.h"

namespace ringcheck::parity {
namespace {

constexpr at::Tensor Problem::*kGiven[] = {&Problem::q, &Problem::k, &Problem::v, &Problem::d_o};

std::vector<RankInput> inputs_of(const Run& run) {
  std::vector<RankInput> ranks;
  for (int rank = 0; rank < run.test.world; ++rank)
    ranks.push_back(input_of(run, rank));
  return ranks;
}

bool same_slots(const Run& a, const Run& b) {
  const Layout one = layout_of(a), other = layout_of(b);
  return one.queries == other.queries && one.keys == other.keys;
}

// In memory, too.
bool same_tensors(const Problem& a, const Problem& b) {
  return std::ranges::all_of(kGiven, [&](const auto tensor) {
    return same_values(a.*tensor, b.*tensor) && (a.*tensor).strides() == (b.*tensor).strides() &&
           (a.*tensor).storage_offset() == (b.*tensor).storage_offset();
  });
}

bool same_input(const RankInput& a, const RankInput& b) {
  return same_tensors(a.local, b.local) && a.meanwhile.has_value() == b.meanwhile.has_value() &&
         (!a.meanwhile || same_tensors(*a.meanwhile, *b.meanwhile));
}

// Would a subject be asked for the same twice? Of what surrounds it nothing is known.
bool same_run(const Run& a, const Run& b) {
  const auto call = [](const Run& run) { return std::tuple(to_text(run.test), run.by_autograd, run.in_other_group, run.calls, run.first_device); };
  return call(a) == call(b) && !a.surroundings && !b.surroundings && same_slots(a, b) &&
         std::ranges::equal(inputs_of(a), inputs_of(b), same_input);
}

void examine_meanwhile(const std::string& oracle, const Run& run, SelfTest& result) {
  for (const RankInput& input : inputs_of(run))
    for (const auto tensor : kGiven) {
      const bool any_alike = ((*input.meanwhile).*tensor == input.local.*tensor).any().item<bool>();
      result.demand(!any_alike, oracle + " asks for another problem in between that is in part the case's own");
    }
}

void examine_strides(const std::vector<Run>& runs, const Case& test, SelfTest& result) {
  const Problem own = input_of(Run{test}, 0).local, given = input_of(runs.front(), 0).local;
  for (const auto tensor : kGiven)
    result.demand(same_values(own.*tensor, given.*tensor) && (own.*tensor).strides() != (given.*tensor).strides(),
                  "strides gives a tensor with the strides that it has in the case");
  const Problem within = input_of(runs.back(), 0).local.to(at::kCPU, true);
  for (const auto tensor : kGiven)
    result.demand(same_values(own.*tensor, within.*tensor) && (within.*tensor).storage_offset() == 1,
                  "strides gives no tensor that begins an element into its memory");
}

// Zero, and as large as fp16 holds it.
void examine_fillings(const std::vector<Run>& runs, const Case& test, SelfTest& result) {
  constexpr double kFillings[] = {0, 3e4};
  const std::vector<RankInput> own = inputs_of(Run{test});
  for (size_t run = 0; run < runs.size(); ++run) {
    const std::vector<RankInput> filled = inputs_of(runs[run]);
    for (size_t rank = 0; rank < own.size(); ++rank)
      for (const auto tensor : kGiven) {
        const at::Tensor x = own[rank].local.*tensor, pads = x.isnan();
        result.demand(same_values((filled[rank].local.*tensor), x.masked_fill(pads, kFillings[run])),
                      c10::str("pads of rank ", rank, " do not hold ", kFillings[run], " in further run ", run));
      }
  }
}

// The scores of the whole sequence.
at::Tensor scores(const Run& run) {
  const Problem p = run.problem(run.test, {{0, run.test.seq}});
  const at::Tensor k = p.k.to(at::kDouble).repeat_interleave(run.test.q_heads / run.test.kv_heads, 1);
  return p.q.to(at::kDouble).matmul(k.mT()) * scale_of(run.test);
}

void examine_extremes(const std::vector<Run>& runs, SelfTest& result) {
  constexpr double kHundreds = 200;
  const at::Tensor wide = scores(runs.at(0)), low = scores(runs.at(1)), ties = scores(runs.at(2));
  result.demand(wide.max().item<double>() > kHundreds && wide.min().item<double>() < -kHundreds, "extremes asks for no scores of hundreds of either sign");
  result.demand(low.max().item<double>() < 0 && low.min().item<double>() < -kHundreds, "extremes asks for no scores of which all are far below zero");
  result.demand((ties.select(3, 1) == ties.select(3, 3)).all().item<bool>(), "extremes asks for no keys that are equal");
}

// Both streams of a message of a rank that is a thread are its own: the thread sleeps when it posts a message, and when
// it takes one. No sleep is shorter than it is to be, so that a machine that is busy fails nothing.
void examine_delays(const Run& run, SelfTest& result) {
  constexpr int kMessages = 16;
  constexpr std::chrono::microseconds kLeast{50 * 2 * kMessages};
  std::array<std::chrono::steady_clock::duration, 2> took{};
  ringcheck::run({.size = 2}, [&](Communicator& comm) {
    const std::shared_ptr<void> around = run.surroundings(comm, run.test);
    const at::Tensor sent = at::ones({1}), received = at::empty({1});
    const auto begin = std::chrono::steady_clock::now();
    for (int message = 0; message < kMessages; ++message)
      comm.transfer({{sent, 1 - comm.rank()}}, {{received, 1 - comm.rank()}}, {"delayed"}).wait();
    took.at(comm.rank()) = std::chrono::steady_clock::now() - begin;
  });
  result.demand(std::ranges::min(took) >= kLeast, "delays lets messages come at once");
}

}  // namespace

void examine_runs(const std::string& oracle, const std::vector<Run>& runs, const Case& test, SelfTest& result) {
  const bool repeats = oracle == "repetition" || oracle == "run-to-run";  // these ask for the same again
  for (size_t run = 0; run < runs.size() && !repeats; ++run) {
    result.demand(!same_run(runs[run], Run{test}), c10::str("further run ", run, " of ", oracle, " is that of the case again"));
    for (size_t before = 0; before < run; ++before)
      result.demand(!same_run(runs[run], runs[before]), c10::str("further run ", run, " of ", oracle, " is further run ", before, " again"));
    if (oracle == "balancers" || oracle == "layouts")
      result.demand(!same_slots(runs[run], Run{test}), oracle + " asks for shards that are the case's own");
    if (runs[run].meanwhile)
      examine_meanwhile(oracle, runs[run], result);
  }
  if (oracle == "strides")
    examine_strides(runs, test, result);
  if (oracle == "pads")
    examine_fillings(runs, test, result);
  if (oracle == "extremes")
    examine_extremes(runs, result);
  if (oracle == "delays")
    examine_delays(runs.front(), result);
}

}  // namespace ringcheck::parity
