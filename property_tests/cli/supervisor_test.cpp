// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that really die or stop, under the real command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cli/workers/status_file.h"
#include "property_tests/asan_options.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Large enough that it still runs when it is hit.
const std::string kLargeMpi = "ring:p2p/headtail/causal/mpi/P3/hq16/hkv16/s9000/d128/float32";
const std::string kLargeThread = "ring:p2p/headtail/causal/thread/P3/hq16/hkv16/s9000/d128/float32";
const std::string kSmallMpi = "ring:p2p/headtail/causal/mpi/P3/hq2/hkv2/s60/d16/float32";
const std::string kSmallThread = "ring:p2p/headtail/causal/thread/P3/hq2/hkv2/s60/d16/float32";

// Of a processor, by proc_pid_stat(5): however busy the machine is, it has come so far.
double seconds_at_work(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int word = 3; word < 14; ++word) words >> skipped;
  double user = 0, system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string deadline(int seconds) { return std::to_string(seconds * static_cast<int>(kSlowerBySanitizer)); }

class Supervisor : public ::testing::Test {
 protected:
  void start(std::vector<std::string> words,
             const std::map<std::string, std::string>& environment = {}) {
    words.insert(words.begin(), {ringcheck_program(), "verify", "--json", folder_.file("json"),
                                 "--junit", folder_.file("junit")});
    program_ = std::make_unique<Running>(words, environment);
  }

  static bool launches(const Found& process) { return process.command.find("mpirun") != std::string::npos; }

  // The worker process of an MPI rank, or of all threads (rank -1), well into its first case.
  pid_t worker(int rank) {
    const std::string sign =
        rank < 0 ? "" : "\nOMPI_COMM_WORLD_RANK=" + std::to_string(rank) + "\n";
    pid_t found = -1;
    EXPECT_TRUE(wait_until(60, [&] {
      for (const Found& process : program_->workers())
        if (!launches(process) &&
            ("\n" + process.environment).find(sign) != std::string::npos)
          found = process.pid;
      return found > 0;
    }));
    if (found <= 0)
      throw std::runtime_error("no such worker: a signal to -1 would be one to every process");
    EXPECT_TRUE(wait_until(60, [&] { return seconds_at_work(found) > 1 + kSlowerBySanitizer; }));  // starting takes one, or so many
    return found;
  }

  Ran end() {
    const Ran ran = program_->wait();
    EXPECT_TRUE(wait_until(5, [&] { return program_->workers().empty(); })) << "orphans survive";
    return ran;
  }

  // For PATH: an mpirun that does this.
  std::string with_mpirun(const std::string& script) {
    write_text(folder_.file("mpirun"), "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_.file("mpirun"), std::filesystem::perms::owner_all);
    return folder_.path() + ":/usr/bin:/bin";
  }

  // One that says that its rank 0 is in its first case, which passed, and then does this.
  std::string with_mpirun_of_one_case(const std::string& then) {
    start({"--case", kSmallMpi});
    EXPECT_EQ(end().code, 0);
    write_text(folder_.file("line"), json{{"index", 0}, {"case", cases()[0]}}.dump() + "\n");
    cli::StatusFile::create(folder_.file("said"), 1).begin(0, 0);
    return with_mpirun(R"(
while [ $# -gt 0 ]; do
  case $1 in --results) results=$2 ;; --status) status=$2 ;; esac
  shift
done
dd if=")" + folder_.file("said") + R"(" of="$status" conv=notrunc 2>/dev/null
cat ")" + folder_.file("line") + R"(" >>"$results"
)" + then);
  }

  json cases() const { return json::parse(read_text(folder_.file("json"))).at("cases"); }

  Folder folder_;
  std::unique_ptr<Running> program_;
};

TEST_F(Supervisor, AKilledMpiRankCostsItsCaseOnly) {
  start({"--case", kLargeMpi, "--case", kSmallMpi});
  ::kill(worker(1), SIGKILL);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "crash");
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(),
              MatchesRegex("rank 1 in .+: signal 9 \\(Killed\\)"));
  EXPECT_GE(cases()[0]["findings"].size(), 3U);
  EXPECT_EQ(cases()[1]["verdict"], "pass");
  EXPECT_THAT(read_text(folder_.file("junit")), HasSubstr("<system-err>"));
}

TEST_F(Supervisor, AStoppedMpiRankIsAHangThatNamesIt) {
  start({"--case", kLargeMpi, "--case", kSmallMpi, "--deadline", deadline(8)});
  ::kill(worker(2), SIGSTOP);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "hang");
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(), HasSubstr("rank 2 in "));
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(), HasSubstr("stopped"));
  EXPECT_EQ(cases()[1]["verdict"], "pass");
}

TEST_F(Supervisor, AKilledThreadWorkerCostsItsCaseOnly) {
  start({"--case", kLargeThread, "--case", kSmallThread, "--jobs", "1"});
  ::kill(worker(-1), SIGKILL);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "crash");
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(),
              MatchesRegex("rank [012] in .+signal 9 \\(Killed\\)"));
  EXPECT_EQ(cases()[1]["verdict"], "pass");
}

// The others take what it would have taken.
TEST_F(Supervisor, AWorkerThatDoesNotStartCostsNoCase) {
  std::vector<std::string> words{"--jobs", "3"};
  for (int seed = 1; seed <= 12; ++seed) words.insert(words.end(), {"--case", kSmallThread + "/seed" + std::to_string(seed)});
  start(words);
  ASSERT_TRUE(wait_until(60, [&] { return program_->workers().size() == 3; }));
  ::kill(program_->workers().front().pid, SIGKILL);  // it takes a second to load what it needs
  EXPECT_EQ(end().code, 0);
  ASSERT_EQ(cases().size(), 12U);
  for (const json& test : cases()) EXPECT_EQ(test["verdict"], "pass") << test["reason"];
}

// Each with the reason of its own worker.
TEST_F(Supervisor, WhereNoWorkerStartsTheirCasesAreSkippedAndSaidSo) {
  std::vector<std::string> words{"--jobs", "2"};
  constexpr int kCases = 60;  // which none gets through while the machine has no time for this test
  for (int seed = 1; seed <= kCases; ++seed) words.insert(words.end(), {"--case", kSmallThread + "/seed" + std::to_string(seed)});
  words.insert(words.end(), {"--case", kSmallMpi});
  start(words, {{"PATH", with_mpirun("echo no slots today; exit 1")}});
  std::set<pid_t> killed;
  ASSERT_TRUE(wait_until(60, [&] {
    for (const Found& worker : program_->workers())
      if (!launches(worker) && killed.insert(worker.pid).second) ::kill(worker.pid, SIGKILL);
    return killed.size() == 2;
  }));
  EXPECT_EQ(end().code, 77);
  ASSERT_EQ(cases().size(), kCases + 1U);
  for (const json& test : cases()) {
    EXPECT_EQ(test["verdict"], "skipped");
    EXPECT_THAT(test["reason"].get<std::string>(),
                HasSubstr(test["name"].get<std::string>().find("/mpi/") != std::string::npos
                              ? "the worker did not start: it ended with exit code 1; no slots today"
                              : "the worker did not start: it ended with signal 9 (Killed)"));
  }
}

// An mpirun that says of its first case what a right one did, and ends: between two cases, or after the last one.
TEST_F(Supervisor, ADeathBetweenTwoCasesCostsTheNextOrTheLast) {
  const std::string other = kSmallMpi + "/seed2";
  const std::map<std::string, std::string> first{{"PATH", with_mpirun_of_one_case("exit 3")}};
  start({"--case", kSmallMpi, "--case", other}, first);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "pass");
  EXPECT_EQ(cases()[1]["verdict"], "crash");
  EXPECT_THAT(cases()[1]["reason"].get<std::string>(), HasSubstr("the worker ended with exit code 3"));
  start({"--case", kSmallMpi}, first);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "crash");
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(), HasSubstr("after its last case the worker ended with exit code 3"));
}

// It has told the result of its first case, and goes on with none.
TEST_F(Supervisor, AHangBetweenTwoCasesCostsTheNext) {
  start({"--case", kSmallMpi, "--case", kSmallMpi + "/seed2", "--deadline", deadline(2)},
        {{"PATH", with_mpirun_of_one_case("exec sleep 1000")}});
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "pass");
  EXPECT_EQ(cases()[1]["verdict"], "hang");
}

TEST_F(Supervisor, ASegmentationFaultNamesTheSignal) {
  start({"--case", kLargeThread});
  ::kill(worker(-1), SIGSEGV);
  EXPECT_EQ(end().code, 5);
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(), HasSubstr("signal 11"));
}

TEST_F(Supervisor, AStoppedThreadWorkerIsAHang) {
  start({"--case", kLargeThread, "--case", kSmallThread, "--deadline", deadline(5), "--jobs", "1"});
  ::kill(worker(-1), SIGSTOP);
  EXPECT_EQ(end().code, 5);
  EXPECT_EQ(cases()[0]["verdict"], "hang");
  EXPECT_EQ(cases()[1]["verdict"], "pass");
}

TEST_F(Supervisor, AnInterruptKeepsWhatIsKnown) {
  start({"--case", kSmallThread, "--case", kLargeMpi, "--case", kSmallMpi});
  worker(0);
  program_->signal(SIGINT);
  EXPECT_EQ(end().code, 6);
  EXPECT_EQ(cases()[0]["verdict"], "pass");
  EXPECT_EQ(cases()[1]["verdict"], "skipped");
  EXPECT_EQ(cases()[2]["verdict"], "skipped");
  EXPECT_THAT(cases()[2]["reason"].get<std::string>(), HasSubstr("interrupted"));
}

TEST_F(Supervisor, NoRankOutlivesAKilledSupervisor) {
  for (const std::string& text : {kLargeMpi, kLargeThread}) {
    start({"--case", text});
    worker(text == kLargeMpi ? 1 : -1);
    program_->signal(SIGKILL);
    EXPECT_EQ(end().code, 128 + SIGKILL);
  }
}

TEST_F(Supervisor, WithoutMpirunItsCasesAreSkippedAndSaidSo) {
  start({"--case", kSmallThread, "--case", kSmallMpi}, {{"PATH", "/nonexistent"}});
  const Ran ran = end();
  EXPECT_EQ(ran.code, 6);
  EXPECT_EQ(cases()[0]["verdict"], "pass");
  EXPECT_EQ(cases()[1]["verdict"], "skipped");
  EXPECT_THAT(ran.out, HasSubstr("mpirun was not found"));
  start({"--case", kSmallMpi}, {{"PATH", "/nonexistent"}});
  EXPECT_EQ(end().code, 77);
}

TEST_F(Supervisor, AnMpirunThatCannotStartIsSaidSo) {
  start({"--case", kSmallMpi, "--case", kSmallThread}, {{"PATH", with_mpirun("echo no slots today; exit 1")}});
  EXPECT_EQ(end().code, 6);
  EXPECT_THAT(cases()[0]["reason"].get<std::string>(), HasSubstr("no slots today"));
}

}  // namespace
}  // namespace ringcheck::testing
