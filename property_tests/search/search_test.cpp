// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The search is only worth what it finds: each subject here is wrong in one way, and the search
// must find it, make it small, and say how often it fails.
#include "property_tests/search/search.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "property_tests/cli/program.h"
#include "property_tests/search/planted.h"

namespace ringcheck::search {
namespace {

using nlohmann::json;
using parity::Case;
using parity::Status;
using ::testing::HasSubstr;

parity::CaseSpace space() { return {parity::search_ranges(8), "cpu"}; }

Conduct conduct_of(const parity::SharedSubject& subject) {
  return {subject, std::chrono::seconds(20), std::chrono::seconds(60)};
}

// For subjects that hang: a healthy case takes milliseconds.
Conduct impatient(const parity::SharedSubject& subject) {
  return {subject, std::chrono::milliseconds(500), std::chrono::milliseconds(2000)};
}

struct Found {
  std::optional<Failure> failure;
  Tally tally;
  json record;  // null: there is none
};

Found found(const parity::SharedSubject& subject, const SearchOptions& options) {
  const testing::Folder folder;
  const auto workers = thread_workers(conduct_of(subject), 8);
  Found result;
  const std::string path = folder.file("record.json");
  {
    Record record(path, options.seed, "planted");
    Search search(*workers, record, options);
    Coverage coverage(space());
    result.failure = search.draw(space(), coverage);
    result.tally = search.tally();
    if (result.failure)
      result.record = json::parse(testing::read_text(path)).at("search");
  }
  EXPECT_EQ(std::filesystem::exists(path), result.failure.has_value());
  return result;
}

Found found(const std::string& plant, uint64_t seed) {
  SearchOptions options;
  options.seed = seed;
  return found(planted().at(plant).subject, options);
}

// A planted bug, and the only case that is left when nothing more can be taken away.
struct Small {
  const char* plant;
  const char* minimal;
};

class PlantedBug : public ::testing::TestWithParam<Small> {};

// Found from any of three seeds, and shrunk to the smallest case in which it exists.
TEST_P(PlantedBug, IsFoundAndShrinksToItsSmallestCase) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto [failure, tally, record] = found(GetParam().plant, seed);
    ASSERT_TRUE(failure) << "not found in " << tally.run << " cases";
    std::cout << GetParam().plant << ", seed " << seed << ": case " << tally.run << ", then "
              << failure->candidates << " candidates, to "
              << parity::to_text(failure->minimal.test) << "\n";
    EXPECT_EQ(parity::to_text(failure->minimal.test), GetParam().minimal);
    EXPECT_EQ(failure->minimal.status, Status::kFail);
    EXPECT_TRUE(failure->complete);
    EXPECT_EQ(to_text(failure->recurrence), "deterministic");
    EXPECT_EQ(record["failure"]["minimal"]["case"], GetParam().minimal);
    EXPECT_EQ(record["failure"]["original"]["case"], parity::to_text(failure->original.test));
    EXPECT_EQ(record["failure"]["class"], "deterministic");
    EXPECT_EQ(record["seed"], seed);
    EXPECT_FALSE(record["failure"]["minimal"]["findings"].empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Search, PlantedBug,
    ::testing::Values(
        // Rank 0 holds one token, rank 1 the other: rank 0 never sees the block of its right
        // neighbour.
        Small{"skips-last-hop",
              "ring:p2p/contiguous/plain/full/thread/cpu/P3/b1/hq1/hkv1/s2/d1/dv1/float64/"
              "rope:none/scale:default/normal/seed1"},
        // Two ranks with a token each, which sees itself alone.
        Small{"wide-window",
              "ring:p2p/contiguous/plain/window[1]/thread/cpu/P2/b1/hq1/hkv1/s2/d1/dv1/float64/"
              "rope:none/scale:default/normal/seed1"},
        // h % 2 and h / 2 first differ at h = 1 of four.
        Small{"modulo-heads",
              "ring:p2p/contiguous/plain/full/thread/cpu/P1/b1/hq4/hkv2/s1/d1/dv1/float64/"
              "rope:none/scale:default/normal/seed1"}),
    [](const auto& info) {
      std::string name = info.param.plant;
      std::erase(name, '-');
      return name;
    });

TEST(Search, FindsNothingInOurs) {
  SearchOptions options;
  options.seed = 7;
  options.cases = 60;
  const auto [failure, tally, record] = found(parity::ours(), options);
  EXPECT_FALSE(failure);
  EXPECT_EQ(tally.run, 60);
  EXPECT_GE(tally.passed, 54);
}

// What becomes of a case with a silent rank.
Failure shrunk_hang(const Budget& budget, const std::string& record_path) {
  const auto workers = thread_workers(impatient(planted().at("goes-silent").subject), 8);
  Record record(record_path, 1, "goes-silent");
  SearchOptions options;
  options.after_hang = budget;
  Search search(*workers, record, options);
  return search
      .replay({parity::parse_case("ring:alltoall/headtail/causal/P5/s9/hq2/hkv1/d4/float32")},
              "given")
      .value();
}

// A rank that goes silent is a hang, by operation and peer; shrinking goes on in new worlds.
TEST(Search, AHangIsAVerdictAndShrinks) {
  const testing::Folder folder;
  const Failure failure = shrunk_hang({40, 60}, folder.file("record"));
  EXPECT_EQ(parity::to_text(failure.minimal.test),
            "ring:p2p/contiguous/plain/full/thread/cpu/P3/b1/hq1/hkv1/s1/d1/dv1/float64/rope:none/"
            "scale:default/normal/seed1");
  EXPECT_EQ(failure.original.status, Status::kHang);
  EXPECT_THAT(failure.minimal.reason, HasSubstr(" in exchange kv, step "));
  EXPECT_THAT(failure.minimal.reason, HasSubstr(", peer "));
  EXPECT_EQ(to_text(failure.recurrence), "deterministic");
  EXPECT_TRUE(failure.complete);
  const json record = json::parse(testing::read_text(folder.file("record"))).at("search");
  EXPECT_EQ(record["failure"]["minimal"]["verdict"], "hang");
}

TEST(Search, ShrinkingAfterAHangIsBounded) {
  const testing::Folder folder;
  const Failure by_count = shrunk_hang({3, 60}, folder.file("record"));
  EXPECT_EQ(by_count.candidates, 3);
  EXPECT_FALSE(by_count.complete);
  const Failure by_time = shrunk_hang({1000, 0.6}, folder.file("record"));
  EXPECT_LE(by_time.candidates, 8);
  EXPECT_FALSE(by_time.complete);
}

// A rank that never comes back, nor waits anywhere, is a hang too: its threads are left behind and
// a new world runs the next case.
TEST(Search, ARankThatRunsAwayIsAHang) {
  const auto release = std::make_shared<std::atomic<bool>>(false);
  const auto ended = std::make_shared<std::atomic<int>>(0);
  const auto workers = thread_workers(
      impatient([release, ended](Communicator& comm, const Case& test, const auto& input) {
        if (test.world == 2 && comm.rank() == 1) {
          while (!*release)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++*ended;
          throw std::runtime_error("released");
        }
        return parity::context_parallel(comm, test, input);
      }),
      8);
  EXPECT_EQ(workers->run(parity::parse_case("P2/s8/d4")).status, Status::kHang);
  EXPECT_TRUE(workers->left_behind());
  EXPECT_EQ(workers->run(parity::parse_case("P3/s8/d4/float64")).status, Status::kPass);
  *release = true;
  EXPECT_TRUE(testing::wait_until(20, [&] { return *ended == 1; }));
}

TEST(Search, SaysThatAFailureIsIntermittent) {
  const auto [failure, tally, record] = found("fails-sometimes", 1);
  ASSERT_TRUE(failure);
  EXPECT_GE(failure->recurrence.failed, 1);
  EXPECT_LE(failure->recurrence.failed, 4);
  EXPECT_EQ(failure->recurrence.runs, 5);
  EXPECT_THAT(record["failure"]["class"].get<std::string>(), HasSubstr("intermittent, "));
}

// Wrong once, in the eleventh run, and never again.
TEST(Search, SaysThatAFailureWasNotReproduced) {
  const auto runs = std::make_shared<std::atomic<int>>(0);
  const auto [failure, tally, record] = found(
      parity::ours_with([runs](Communicator& comm, const Case& test, const parity::RankInput& input) {
        auto output = parity::context_parallel(comm, test, input);
        if (comm.rank() == 0 && ++*runs == 11)
          output.o.zero_();
        return output;
      }),
      {});
  ASSERT_TRUE(failure);
  EXPECT_EQ(tally.run, 11);
  EXPECT_EQ(failure->minimal.test, failure->original.test);
  EXPECT_EQ(record["failure"]["class"], "not reproduced, 0 of 5");
}

// A regression that fails is found before anything is drawn, and shrinks as well.
TEST(Search, ReplaysRegressionsFirst) {
  const testing::Folder folder;
  const auto workers = thread_workers(conduct_of(planted().at("modulo-heads").subject), 8);
  Record record(folder.file("record.json"), 1, "planted");
  SearchOptions options;
  Search search(*workers, record, options);
  const auto failure = search.replay(
      {parity::parse_case("P15/s60/d8"), parity::parse_case("P2/s40/hq2/d8"),
       parity::parse_case("P4/s40/hq6/hkv2/d8/bf16")},
      "regressions");
  ASSERT_TRUE(failure);
  EXPECT_EQ(search.tally().skipped, 1);  // needs 15 ranks
  EXPECT_EQ(search.tally().passed, 1);
  EXPECT_EQ(failure->found_by, "regressions");
  EXPECT_EQ(failure->original.test.q_heads, 6);
  EXPECT_EQ(failure->minimal.test.q_heads, 4);
  EXPECT_EQ(failure->minimal.test.world, 1);
}

}  // namespace
}  // namespace ringcheck::search
