// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What a plan says of bytes, calls and work is what oracle `counters` holds each run to, and its model of
// time is found again from times that were made by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cli/plan/degrees.h"
#include "cli/plan/figures.h"
#include "cli/plan/known.h"
#include "cli/plan/pick.h"
#include "cli/plan/timing.h"
#include "cli/plan/work.h"
#include "parity/case/case.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::cli {
namespace {

using parity::Case;

// Evenly sharded: every rank has two whole chunks, and heads divide.
struct Even {
  Attention layer;
  int64_t ranks;
};

Even drawn() {
  Even even{{}, *rc::gen::inRange<int64_t>(1, 9)};
  const int64_t chunk = *rc::gen::inRange<int64_t>(1, 5), keys = *rc::gen::element<int64_t>(1, 2, 3, 4, 8);
  even.layer.seq = 2 * even.ranks * chunk;
  even.layer.kv_heads = even.ranks * keys;
  even.layer.q_heads = even.layer.kv_heads * *rc::gen::inRange<int64_t>(1, 4);
  even.layer.dim = 2 * *rc::gen::inRange<int64_t>(1, 9);
  even.layer.dim_v = 2 * *rc::gen::inRange<int64_t>(1, 9);
  return even;
}

Case case_of(const Even& even, const std::string& strategy) {
  const auto& [layer, ranks] = even;
  const auto text = [](int64_t n) { return std::to_string(n); };
  return parity::parse_case(strategy + "/headtail/plain/causal/P" + text(ranks) + "/hq" + text(layer.q_heads) +
                            "/hkv" + text(layer.kv_heads) + "/s" + text(layer.seq) + "/d" + text(layer.dim) + "/dv" +
                            text(layer.dim_v) + "/bf16");
}

void expect_near(double planned, int64_t expected, const std::string& what) {
  RC_LOG() << what << ": " << planned << " planned, " << expected << " expected\n";
  RC_ASSERT(std::abs(planned - static_cast<double>(expected)) <= 1e-9 * static_cast<double>(expected));
}

// In which `ulysses` deals the heads of a rank; 0 of others.
int64_t groups_of(const std::string& strategy) {
  return !strategy.starts_with("ulysses") ? 0 : strategy.ends_with("[4]") ? 4 : strategy.ends_with("[2]") ? 2 : 1;
}

void expect_pass(const Stages& pass, const parity::ExpectedPass& expected) {
  expect_near(total(pass, &Stage::sent), expected.bytes, "bytes");
  expect_near(total(pass, &Stage::flops), expected.flops, "FLOPs");
  expect_near(calls_in(pass), expected.steps, "steps");
}

RC_GTEST_PROP(Plan, SaysWhatCountersHoldsEachRankTo, ()) {
  const Even even = drawn();
  for (const auto& [name, strategy] : planned_strategies()) {
    const int64_t groups = groups_of(name);
    const bool dealt = groups <= 1 || even.ranks == 1 || even.layer.kv_heads % (groups * even.ranks) == 0;
    RC_ASSERT(strategy.refuses(even.layer, even.ranks).has_value() == !dealt);
    if (!dealt) continue;
    const Work work = strategy.work(even.layer, even.ranks);
    for (const parity::ExpectedCounters& rank : parity::expected_counters(case_of(even, name))) {
      expect_pass(work.forward, rank.forward);
      expect_pass(work.backward, rank.backward);
      expect_near(work.kv, rank.kv_bytes, "K and V");
      expect_near(work.travellers, rank.traveller_bytes, "gradients");
    }
  }
}

// What the frame and the kernel hold for a moment comes on top.
RC_GTEST_PROP(Plan, SaysNoMoreMemoryThanARankMayTake, ()) {
  const Even even = drawn();
  for (const auto& [name, strategy] : planned_strategies()) {
    if (strategy.refuses(even.layer, even.ranks)) continue;
    const double planned = layer_bytes(even.layer, even.ranks, strategy.work(even.layer, even.ranks));
    const parity::ExpectedCounters rank = parity::expected_counters(case_of(even, name)).front();
    RC_ASSERT(planned <= static_cast<double>(rank.peak_bytes));
  }
}

RC_GTEST_PROP(Plan, UlyssesNeedsHeadsForEveryRank, ()) {
  Even even = drawn();
  even.layer.kv_heads = even.layer.q_heads = even.ranks + 1;
  RC_ASSERT(planned_strategies().at("ulysses").refuses(even.layer, even.ranks).has_value() == (even.ranks > 1));
}

const PassFigures kForward{5e14, 1e-4, 2e12}, kBackward{4e14, 2e-4, 1e12};
const Link kLink{4e11, 2e-5}, kNetwork{5e10, 3e-5};

reports::Measurement measured(const std::string& name, std::map<std::string, std::string> parts, double value) {
  return {name, std::move(parts), "", {value}};
}

// As ringcheck_scaling writes it, by a machine that keeps to the model.
reports::Result scaling_of(const std::vector<std::string>& strategies, const std::string& kernel = "wgmma") {
  reports::Result result;
  result.kind = reports::Kind::kScaling;
  for (const std::string& strategy : strategies)
    for (const int64_t seq : {8192, 16384, 65536}) {
      const Attention layer{seq, 32, 8, 128, 128};
      const std::map<std::string, std::string> parts{
          {"mask", "causal"}, {"batch", "1"},  {"subject", "ours"}, {"dtype", "bf16"}, {"strategy", strategy},
          {"world", "4"},     {"devices", "4"}, {"kernel", kernel}, {"heads", "32"},   {"kv_heads", "8"},
          {"dim", "128"},     {"dim_v", "128"}, {"seq", std::to_string(seq)}};
      const Hosts hosts{4, kLink, kNetwork};
      const auto of = [&](int64_t ranks) {
        return seconds_of(planned_strategies().at(strategy).work(layer, ranks), ranks, {kForward, kBackward}, hosts);
      };
      const LayerSeconds all = of(4), one = of(1);
      result.measurements.push_back(measured("seconds", parts, all.both().all));
      result.measurements.push_back(measured("forward_seconds", parts, all.forward.all));
      result.measurements.push_back(measured("exposed_communication", parts, all.both().exposed / all.both().all));
      result.measurements.push_back(measured("seconds_on_one", parts, one.both().all));
      result.measurements.push_back(
          measured("forward_tflops_on_one", parts, layer.forward_flops() / one.forward.all * 1e-12));
    }
  return result;
}

void expect_equal(const PassFigures& found, const PassFigures& made) {
  EXPECT_NEAR(found.rate / made.rate, 1, 1e-6);
  EXPECT_NEAR(found.call / made.call, 1, 1e-6);
  EXPECT_NEAR(found.beside / made.beside, 1, 1e-6);
}

TEST(Figures, AreFoundAgainFromTimesOfTheModel) {
  const Figures figures = figures_of(scaling_of({"ring:p2p"}));
  expect_equal(figures.kernels.at("wgmma").forward, kForward);
  expect_equal(figures.kernels.at("wgmma").backward, kBackward);
  EXPECT_NEAR(figures.link.rate / kLink.rate, 1, 1e-6);
  EXPECT_NEAR(figures.link.latency / kLink.latency, 1, 1e-6);
  EXPECT_EQ(figures.measured.size(), 6U);
  for (const Checked& point : checked(figures)) EXPECT_LT(point.off(), 1e-6);
}

TEST(Figures, ThatAreOffAreSaidToBe) {
  reports::Result scaling = scaling_of({"ring:p2p"});
  for (reports::Measurement& one : scaling.measurements)
    if (one.name == "seconds" && one.parts.at("seq") == "65536") one.samples = {2 * one.samples[0]};
  double most = 0;
  for (const Checked& point : checked(figures_of(scaling))) most = std::max(most, point.off());
  EXPECT_GT(most, 0.1);
}

TEST(Figures, OfTooLittleAreRefused) {
  reports::Result other = scaling_of({"ring:p2p"});
  other.kind = reports::Kind::kBench;
  EXPECT_THROW(figures_of(other), std::invalid_argument);
  reports::Result one_length = scaling_of({"ring:p2p"});
  std::erase_if(one_length.measurements, [](const auto& one) { return one.parts.at("seq") != "8192"; });
  EXPECT_THROW(figures_of(one_length), std::invalid_argument);
  reports::Result shared = scaling_of({"ring:p2p"});
  for (reports::Measurement& one : shared.measurements) one.parts["devices"] = "2";
  EXPECT_THROW(figures_of(shared), std::invalid_argument);
  reports::Result nothing;
  nothing.kind = reports::Kind::kScaling;
  EXPECT_THROW(figures_of(nothing), std::invalid_argument);
}

TEST(Figures, ThatNobodyCanHaveMeasuredAreRefused) {
  const std::vector<std::pair<const char*, double>> wrong{
      {"seconds", 0}, {"seconds", -1}, {"forward_seconds", NAN}, {"exposed_communication", 1},
      {"exposed_communication", -0.5}, {"forward_tflops_on_one", 0}, {"seconds_on_one", INFINITY}};
  for (const auto& [name, value] : wrong) {
    reports::Result scaling = scaling_of({"ring:p2p"});
    for (reports::Measurement& one : scaling.measurements)
      if (one.name == name) one.samples = {value};
    EXPECT_THROW(figures_of(scaling), std::invalid_argument) << name << " " << value;
  }
  for (const char* part : {"seq", "heads", "kv_heads", "dim", "world"})
    for (const char* value : {"0", "-1", "many", "", "99999999999999999999"}) {
      reports::Result scaling = scaling_of({"ring:p2p"});
      for (reports::Measurement& one : scaling.measurements) one.parts[part] = value;
      EXPECT_THROW(figures_of(scaling), std::invalid_argument) << part << " " << value;
    }
}

// By hand: 1 ms of kernel in 2 calls and 1 GB beside it; 0.8 GB over the link takes 2.02 ms.
TEST(Seconds, OfAStageAreThoseOfTheLongerOfKernelAndLink) {
  const PassFigures kernel{1e12, 1e-4, 1e12};
  const Hosts hosts{8, kLink, kNetwork};
  const Stages hidden{{2, 5e8, 0, 1e8}}, waiting{{1, 8e8, 1e8, 8e8}};
  EXPECT_NEAR(seconds_of(hidden, Peers::kNeighbour, 8, kernel, hosts).all, 2 * 6e-4, 1e-12);
  EXPECT_EQ(seconds_of(hidden, Peers::kNeighbour, 8, kernel, hosts).exposed, 0);
  const Seconds waits = seconds_of(waiting, Peers::kNeighbour, 8, kernel, hosts);
  EXPECT_NEAR(waits.all, 2.02e-3, 1e-12);
  EXPECT_NEAR(waits.exposed, 2.02e-3 - 1e-3, 1e-12);
}

// A ring waits for its slowest hop; who sends to everybody sends 8 of 15 shares to the other host.
TEST(Seconds, BetweenHostsAreThoseOfTheNetwork) {
  const PassFigures kernel{1e12, 0, 1e12};
  const Hosts hosts{8, kLink, kNetwork};
  const Stages alone{{1, 0, 0, 15e8}};
  EXPECT_NEAR(seconds_of(alone, Peers::kNeighbour, 16, kernel, hosts).all, 3e-5 + 15e8 / 5e10, 1e-12);
  EXPECT_NEAR(seconds_of(alone, Peers::kEverybody, 16, kernel, hosts).all, 3e-5 + 8e8 / 5e10, 1e-12);
  const Stages of_twelve{{1, 0, 0, 11e8}};  // of four on the second host each sends 8 of 11 shares to the first one
  EXPECT_NEAR(seconds_of(of_twelve, Peers::kEverybody, 12, kernel, hosts).all, 3e-5 + 8e8 / 5e10, 1e-12);
  EXPECT_NEAR(seconds_of(alone, Peers::kEverybody, 8, kernel, hosts).all, 2e-5 + 15e8 / 4e11, 1e-12);
}

Question question(double gibibytes) {
  return {{1 << 20, 32, 8, 128, 128}, 32, 64, gibibytes * (1 << 30), {8, kLink, kNetwork}};
}

TEST(Degrees, AreTheDivisorsAndTheFewestThatFitsIsTheFirst) {
  const Figures figures = figures_of(scaling_of({"ring:p2p", "ulysses"}));
  const std::vector<Degree> degrees = degrees_of(question(8), figures);
  ASSERT_EQ(degrees.size(), 7U);
  for (size_t i = 0; i < degrees.size(); ++i) {
    const Degree& degree = degrees[i];
    EXPECT_EQ(degree.ranks, 1 << i);
    EXPECT_EQ(degree.kept, 32.0 * 2 * 8 * 128 * 2 * (1 << 20) / static_cast<double>(degree.ranks));
    EXPECT_EQ(degree.best(0), nullptr);
    const Choice* best = degree.best(1e15);
    ASSERT_NE(best, nullptr);
    EXPECT_EQ(best, &degree.choices.front());
    EXPECT_EQ(degree.best(degree.needs(*best)), best);
    for (const Choice& choice : degree.choices) {
      const int64_t groups = groups_of(choice.strategy);
      EXPECT_EQ(choice.refused.empty(), groups == 0 || degree.ranks == 1 || degree.ranks * groups <= 8) << choice.strategy;
      EXPECT_EQ(choice.measured, choice.refused.empty() && (choice.strategy == "ring:p2p" || choice.strategy == "ulysses"));
      if (choice.refused.empty()) {
        EXPECT_GE(choice.seconds.both().all, best->seconds.both().all);
      }
    }
  }
  EXPECT_NEAR(degrees.front().best(1e15)->eta, 1, 1e-12);
}

std::string auto_text(const Even& even) {
  const std::string text = parity::to_text(case_of(even, "ring:p2p"));
  return "auto" + text.substr(text.find('/'));
}

// On machines whose links differ by a factor of a thousand, so that no strategy is always the best.
RC_GTEST_PROP(Auto, IsTheFastestStrategyOfThePlan, ()) {
  const Even even = drawn();
  Figures figures = figures_of(scaling_of({"ring:p2p"}, "plain"));
  figures.link.rate = std::pow(10.0, *rc::gen::inRange<int>(5, 9));
  figures.link.latency = std::pow(10.0, -*rc::gen::inRange<int>(3, 8));
  const Question question{even.layer, 1, even.ranks, INFINITY, {even.ranks, figures.link, kNetwork}};
  const Pick pick = picked(auto_text(even), figures);
  const Degree all = degrees_of(question, figures).back();
  RC_TAG(pick.test.strategy);
  RC_ASSERT(parity::to_text(pick.test).starts_with(all.best(INFINITY)->strategy + "/"));
  for (const Choice& choice : all.choices) RC_ASSERT(pick.why.find(choice.strategy) != std::string::npos);
}

TEST(Auto, LeavesOutWhatCannot) {
  Even even{{64, 2, 2, 16, 16}, 4};
  const Pick pick = picked(auto_text(even), figures_of(scaling_of({"ring:p2p"}, "plain")));
  EXPECT_FALSE(parity::to_text(pick.test).starts_with("ulysses"));
  EXPECT_THAT(pick.why, testing::HasSubstr("ulysses cannot ("));
}

TEST(Auto, RefusesWhatItsModelDoesNotKnow) {
  const Figures figures = figures_of(scaling_of({"ring:p2p"}, "plain"));
  const auto refused = [&](const std::string& rest, const std::string& why) {
    try {
      picked("auto/" + rest, figures);
      ADD_FAILURE() << rest;
    } catch (const parity::BadCase& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(why)) << rest;
      EXPECT_THAT(error.what(), testing::HasSubstr("name a strategy instead of auto")) << rest;
    }
  };
  refused("headtail/plain/full/P2/hq2/hkv2/s64/d16/bf16", "this is auto/headtail/plain/full/");
  refused("contiguous/plain/causal/P2/hq2/hkv2/s64/d16/bf16", "/contiguous/");
  refused("headtail/plain/causal/P2/b2/hq2/hkv2/s64/d16/bf16", "/b2/");
  refused("headtail/plain/causal/P2/hq2/hkv2/s64/d16/float32", "/float32/");
  refused("headtail/plain/causal/P4/hq4/hkv4/s7/d16/bf16", "s7 has fewer than two tokens for each of P4");
  refused("headtail/flash/causal/P2/hq2/hkv2/s64/d16/bf16", "kernel 'flash' was not measured; known: plain");
}

TEST(Auto, HasFiguresOfEveryGpuThatIsKnown) {
  for (const std::string& gpu : known_gpus()) EXPECT_FALSE(figures_of_gpu(gpu).kernels.empty()) << gpu;
}

}  // namespace
}  // namespace ringcheck::cli
