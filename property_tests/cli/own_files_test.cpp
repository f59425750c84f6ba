// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// No command writes over what it reads, nor two things into one file, however the names are spelt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "property_tests/cli/guard/guard_dump.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kResults = RINGCHECK_SOURCE_DIR "/reports/results/cpu_";

// A call that reads IN, and the options by which it writes.
struct Call {
  Words words;
  std::string input;  // what IN is
  Words writes;
};

class OwnFiles : public GuardTest {
 protected:
  OwnFiles() {
    parity::write_safetensors(path("dump"), whole_);
    EXPECT_EQ(ringcheck({"report", "add", file("h"), kResults + "smoke.json"}).code, 0);
    write_text(file("waivers"), R"({"waivers": []})");
    write_text(file("journal"), "hello");
  }
  std::vector<Call> calls() const {
    const std::string smoke = kResults + "smoke.json", faults = kResults + "faults.json",
                      limits = kResults + "sensitivity.json", clean = kResults + "clean.summary.json";
    return {{{"guard", "IN"}, path("dump"), {"--json", "--junit"}},
            {{"judge", "IN", "--mask", "causal"}, path("dump"), {"--json", "--junit"}},
            {{"verify", "--list", "--tensors", "IN"}, path("dump"), {"--json", "--junit"}},
            {{"verify", "--list", "--waivers", "IN"}, file("waivers"), {"--json", "--junit"}},
            {{"compare", "IN", "x"}, smoke, {"--json", "--markdown"}},
            {{"compare", "x", "y,IN"}, smoke, {"--json", "--markdown"}},
            {{"compare", "x", "y", "--history", "IN"}, file("h"), {"--json", "--markdown"}},
            {{"compare", "x", "y", "--waivers", "IN"}, file("waivers"), {"--json", "--markdown"}},
            {{"result", "recover", "IN"}, file("journal"), {"--json"}},
            {{"result", "recover", "IN", "-o", file("o")}, file("journal"), {"--junit"}},
            {{"report", "export", "IN", "latest"}, file("h"), {"-o"}},
            {{"report", "render", "IN", "--as", "junit"}, smoke, {"-o"}},
            {{"report", "render", smoke, "--as", "junit", "--waivers", "IN"}, file("waivers"), {"-o"}},
            {{"report", "join", smoke, "IN"}, faults, {"-o"}},
            {{"report", "html", "IN"}, file("h"), {"-o"}},
            {{"faults", "--merge", "IN"}, faults, {"--json"}},
            {{"detection", "IN", limits, clean}, faults, {"--markdown"}},
            {{"detection", faults, "IN", clean}, limits, {"--markdown"}},
            {{"detection", faults, limits, "IN"}, clean, {"--markdown"}},
            {{"detection", faults, limits, clean, "--profile", "IN"}, faults, {"--markdown"}}};
  }
  Ran run(Words words, const std::string& input, const Words& more) const {
    for (std::string& word : words)
      if (const size_t at = word.find("IN"); at != std::string::npos) word.replace(at, 2, input);
    words.insert(words.end(), more.begin(), more.end());
    return ringcheck(words);
  }
  // Further names of a file.
  Words names_of(const std::string& path) const {
    fs::remove(file("soft")), fs::remove(file("hard"));
    fs::create_symlink(path, file("soft"));
    fs::create_hard_link(path, file("hard"));
    return {path, fs::relative(path).string(), folder_.path() + "/./in", file("soft"), file("hard")};
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
};

// The names take turns.
TEST_F(OwnFiles, AreNotWrittenOver) {
  size_t turn = 0;
  for (const Call& call : calls())
    for (const std::string& option : call.writes) {
      fs::copy_file(call.input, file("in"), fs::copy_options::overwrite_existing);
      const std::string before = read_text(file("in"));
      const Words names = names_of(file("in"));
      const std::string name = names[turn++ % names.size()], what = call.words.front() + " " + option + " " + name;
      const Ran ran = run(call.words, file("in"), {option, name});
      EXPECT_EQ(ran.code, 2) << what;
      EXPECT_THAT(ran.err, AllOf(HasSubstr(name), HasSubstr("what is read"), HasSubstr("name another file"))) << what;
      EXPECT_THAT(ran.out, IsEmpty());
      EXPECT_EQ(read_text(file("in")), before) << what;
    }
}

// Answers lie in folders of the folder that is named; a plugin and a module are files of a case.
TEST_F(OwnFiles, NorWhatACaseReads) {
  const std::string answers = file("answers"), answer = answers + "/case-0/rank-0.in.safetensors";
  ASSERT_EQ(ringcheck({"export", answers, "--world", "1", "--seq", "8", "--dtype", "float32"}).code, 0);
  write_text(file("mine.so"), "no library"), write_text(file("mine.py"), "def f(): pass");
  const auto subject = [](const std::string& text) { return "subject:" + text + "/causal/P1/s8/float32"; };
  const std::vector<std::pair<Words, std::string>> calls{
      {{"judge", answers}, answer},
      {{"verify", "--case", subject("files[" + answers + "]")}, answer},
      {{"verify", "--case", subject("plugin[" + file("mine.so") + "]")}, file("mine.so")},
      {{"verify", "--case", subject("python[" + file("mine.py") + ":f]")}, file("mine.py")}};
  for (auto [words, read] : calls) {
    const std::string before = read_text(read);
    words.insert(words.end(), {"--json", read});
    const Ran ran = ringcheck(words);
    EXPECT_EQ(ran.code, 2) << read << ran.out;
    EXPECT_EQ(read_text(read), before);
  }
}

TEST_F(OwnFiles, WhatSqliteKeepsBesideAHistoryBelongsToIt) {
  for (const char* beside : {"-wal", "-shm", "-journal"})
    for (const Words& words : {Words{"report", "export", file("h"), "latest", "-o"}, Words{"report", "html", file("h"), "-o"},
                               Words{"compare", "x", "y", "--history", file("h"), "--json"}}) {
      const Ran ran = run(words, "", {file("h") + beside});
      EXPECT_EQ(ran.code, 2) << words[1] << beside;
      EXPECT_THAT(ran.err, HasSubstr("what is read")) << words[1] << beside;
    }
}

TEST_F(OwnFiles, AFileIsOneRank) {
  for (const Words& words : {Words{"guard"}, Words{"judge", "--mask", "causal", "--balance", "contiguous"}}) {
    const Ran ran = run(words, "", {path("dump"), path("dump")});
    EXPECT_EQ(ran.code, 2) << words[0];
    EXPECT_THAT(ran.err, HasSubstr("is given twice")) << words[0];
  }
}

TEST_F(OwnFiles, ABundleIsNoResult) {
  for (const char* option : {"--json", "--junit", "--markdown"}) {
    const Ran ran = run({"verify", "--list", "--bundle", file("kept")}, "", {option, file("./kept")});
    EXPECT_EQ(ran.code, 2) << option;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(option), HasSubstr("--bundle"), HasSubstr("name two"))) << option;
  }
}

// Whoever reads a half of it, or nothing, should not take it for all.
TEST_F(OwnFiles, AFullStdoutIsNoSuccess) {
  const std::string program = "'" + ringcheck_program() + "' verify --list ";
  EXPECT_EQ(WEXITSTATUS(std::system((program + "> /dev/full 2> '" + file("said") + "'").c_str())), 2);
  EXPECT_THAT(read_text(file("said")), HasSubstr("cannot write 'stdout'"));
  const std::string reader_goes = "bash -c \"set -o pipefail; " + program + "| head -n 1 > /dev/null\"";
  EXPECT_EQ(std::system(reader_goes.c_str()), 0);
  const std::string render = "'" + ringcheck_program() + "' report render " RINGCHECK_SOURCE_DIR
                             "/reports/results/cpu_smoke.json --as openmetrics";
  EXPECT_EQ(std::system(("bash -c \"set -o pipefail; " + render + " | head -n 1 > /dev/null\"").c_str()), 0);
}

TEST_F(OwnFiles, AClosedStdoutIsNoSuccess) {
  const std::string command = "'" + ringcheck_program() + "' verify --list >&- 2> '" + file("said") + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_THAT(read_text(file("said")), HasSubstr("cannot write 'stdout': it is closed"));
}

TEST_F(OwnFiles, TwoResultsHaveTwoFiles) {
  fs::create_directory(file("sub"));
  fs::create_directory_symlink(file("sub"), file("link"));
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"-", "-"}, {"-", "/dev/stdout"}, {file("new"), file("new")}, {file("new"), file("./new")},
      {file("sub/new"), file("link/../sub/new")}, {file("sub/new"), file("link/new")}};
  size_t turn = 0;
  for (const Call& call : calls()) {
    if (call.writes.size() < 2) continue;
    const auto& [one, other] = pairs[turn++ % pairs.size()];
    const Ran ran = run(call.words, call.input, {call.writes[0], one, call.writes[1], other});
    EXPECT_EQ(ran.code, 2) << call.words.front() << " " << one << " " << other;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("name the same file"), HasSubstr(one), HasSubstr(other)));
    EXPECT_THAT(ran.out, IsEmpty());
  }
  EXPECT_GE(turn, pairs.size());
  EXPECT_FALSE(fs::exists(file("new")));
}

}  // namespace
}  // namespace ringcheck::testing
