// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Four writers, killed 200 times whenever it happens: what was acknowledged is there, and the
// database is whole.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "property_tests/cli/program.h"
#include "property_tests/reports/history/many_runs.h"
#include "reports/history/history.h"

namespace ringcheck::reports {
namespace {

constexpr int kWriters = 4, kKills = 200;

// What `ringcheck report add` does, again and again in a process of its own: a history is opened,
// one run is added, and its number goes into the pipe when that has returned.
class Writer {
 public:
  Writer(const std::string& path, int first) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ == 0) {
      ::close(ends[0]);
      try {
        for (int number = first;; ++number) {
          History(path, History::Missing::kCreate).add({numbered_run(number, 20, 20)}, "");
          if (::write(ends[1], &number, sizeof number) != sizeof number) ::_exit(1);
        }
      } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { ::close(pipe_); }

  // The first number that it acknowledged; -1 where it gave up before.
  int first() {
    int number = -1;
    return ::read(pipe_, &number, sizeof number) == sizeof number ? number : -1;
  }

  // The numbers that it acknowledged.
  std::vector<int> kill() {
    int status = 0, number = 0;
    ::kill(pid_, SIGKILL);
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it gave up before, with " << WEXITSTATUS(status);
    std::vector<int> numbers;
    while (::read(pipe_, &number, sizeof number) == sizeof number) numbers.push_back(number);
    return numbers;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

TEST(History, LosesNothingWhenWritersAreKilled) {
  const testing::Folder folder;
  const std::string path = folder.file("history.db");
  std::mt19937 random(20261122);
  std::uniform_real_distribution<double> moment(0, 0.15);  // seconds: some die before their first run
  std::vector<std::unique_ptr<Writer>> writers(kWriters);
  std::set<std::string> acknowledged;
  int next = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    for (auto& writer : writers)
      if (!writer) writer = std::make_unique<Writer>(path, 1000 * next++);
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
    auto& victim = writers[random() % kWriters];
    for (const int number : victim->kill()) acknowledged.insert(std::to_string(number));
    victim.reset();
  }
  for (auto& writer : writers)
    if (writer)
      for (const int number : writer->kill()) acknowledged.insert(std::to_string(number));

  History history(path);
  EXPECT_EQ(history.database().value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(history.database().value("PRAGMA foreign_key_check"), "");
  std::set<std::string> there;
  for (const ListedRun& run : history.list()) {
    there.insert(run.commit);
    EXPECT_EQ(run.measurements, 20);
    EXPECT_EQ(run.summary.cases, 20);
    EXPECT_EQ(history.text(run.id), numbered_run(std::stoi(run.commit), 20, 20).text);
  }
  for (const std::string& number : acknowledged) EXPECT_TRUE(there.contains(number)) << number;
  EXPECT_GT(acknowledged.size(), static_cast<size_t>(kKills) / 2) << "hardly anything was written";
  std::cout << acknowledged.size() << " runs acknowledged, " << there.size() << " there\n";
}

// Whoever comes first makes the history, and the others find it, whole or not there yet.
TEST(History, IsMadeByOneOfManyProcesses) {
  const testing::Folder folder;
  for (int time = 0; time < 100; ++time) {
    const std::string path = folder.file(std::to_string(time) + ".db");
    std::vector<std::unique_ptr<Writer>> writers;
    for (int writer = 0; writer < kWriters; ++writer)
      writers.push_back(std::make_unique<Writer>(path, 1000 * writer));
    for (auto& writer : writers) EXPECT_GT(writer->first(), -1);
    for (auto& writer : writers) writer->kill();
  }
}

// The program itself says what it added when that is on disk.
TEST(History, LosesNothingWhenTheProgramIsKilled) {
  const testing::Folder folder;
  const std::string path = folder.file("history.db");
  std::mt19937 random(7);
  std::uniform_real_distribution<double> moment(0, 0.8);
  std::set<std::string> acknowledged;
  for (int kill = 0; kill < 10; ++kill) {
    const std::string file = folder.file(std::to_string(kill) + ".json");
    testing::write_text(file, numbered_run(kill, 20, 20).text);
    testing::Running program({testing::ringcheck_program(), "report", "add", path, file});
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
    program.signal(SIGKILL);
    const testing::Ran ran = program.wait();
    if (ran.out.starts_with("added ")) acknowledged.insert(ran.out.substr(6, 36));
  }
  const testing::Ran last = testing::ringcheck({"report", "add", path, folder.file("0.json")});
  EXPECT_EQ(last.code, 0) << last.err;
  History history(path);
  EXPECT_EQ(history.database().value("PRAGMA integrity_check"), "ok");
  for (const std::string& id : acknowledged) EXPECT_EQ(history.find(id), id);
}

}  // namespace
}  // namespace ringcheck::reports
