// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Bad inputs as they come, drawn from what the program and docs/cli.md say of its options: each ends
// soon, with exit code 2 and a line on stderr, and leaves nothing behind. RC_PARAMS has the seed, and
// with max_success above 200 how many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>
#include <sys/resource.h>

#include <filesystem>
#include <set>

#include "parity/case/part.h"
#include "property_tests/asan_options.h"
#include "property_tests/cli/bad_inputs/bad_inputs.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int kFewest = 210;
constexpr double kSeconds = 2;  // of a core, beyond what --version takes; others use this machine, too
constexpr double kHang = 30;    // of a clock
constexpr size_t kLongestLine = 2200;

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Everything in a folder: what, how long, and when it was written.
std::set<std::string> seen_in(const std::string& folder) {
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto status = entry.symlink_status();
    const bool file = fs::is_regular_file(status);
    seen.insert(entry.path().filename().string() + " " +
                (file ? std::to_string(entry.file_size()) + " " +
                            std::to_string(entry.last_write_time().time_since_epoch().count())
                      : std::to_string(static_cast<int>(status.type()))));
  }
  return seen;
}

struct Answered : Ran {
  double seconds = 0;
  bool left_nothing = false;
};

Answered answer(const BadInput& input) {
  const Folder place, output;  // TMPDIR, and what it prints
  std::map<std::string, std::string> environment{{"CUDA_VISIBLE_DEVICES", ""},
                                                 {"TMPDIR", place.path()}};
  for (const auto& [name, value] : input.environment) environment[name] = value;
  Words words{ringcheck_program()};
  words.insert(words.end(), input.words.begin(), input.words.end());
  const double begin = processor_seconds();
  cli::Process process({words, environment, output.file("out"), output.file("err")});
  Answered answered;
  answered.code = process.wait(kHang) ? process.poll()->code : -1;
  answered.seconds = processor_seconds() - begin;
  answered.out = read_text(output.file("out"));
  answered.err = read_text(output.file("err"));
  answered.left_nothing = seen_in(place.path()).empty();
  return answered;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool has_any(const std::string& line, const Words& words) {
  return words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
           return line.find(word) != std::string::npos;
         });
}

bool is_text(const std::string& line) {
  return std::ranges::none_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

// How messages say what to do.
const Words kFix{"did you mean ", "want ", "use ",   "say ",   "name ",  "leave ", "give ",  "make ",
                 "write it again", "must be ", "check ", "see ", "start ", "free ", "smaller",
                 "unset "};

// What is wrong with the answer, in words; empty: nothing.
std::string wrong_with(const Answered& answered, const BadInput& input) {
  const std::string line = first_line(answered.err);
  std::string wrong;
  const auto demand = [&](bool holds, const std::string& what) {
    if (!holds) wrong += "  " + what + "\n";
  };
  demand(answered.code == 2, "exit code " + std::to_string(answered.code) + ", not 2");
  demand(answered.out.empty(), "stdout is not empty");
  demand(answered.left_nothing, "something is left in TMPDIR");
  demand(line.starts_with("ringcheck"), "the first line on stderr is not the program's");
  demand(line.size() <= kLongestLine && is_text(line), "the first line is no line to be read");
  demand(has_any(line, input.value), "the value is not named: " + ::testing::PrintToString(input.value));
  demand(has_any(line, input.limit), "the limit is not named: " + ::testing::PrintToString(input.limit));
  demand(has_any(line, kFix), "no fix is named");
  return wrong;
}

std::string call_of(const BadInput& input) {
  std::string call;
  for (const auto& [name, value] : input.environment) call += name + "=" + value + " ";
  call += "ringcheck";
  for (const std::string& word : input.words) call += " '" + word.substr(0, 200) + "'";
  return call;
}

Mutators all_mutators() {
  Mutators all;
  for (const auto& family : {wrong_words(), wrong_values(), wrong_files(), wrong_environments()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

TEST(BadInputs, AreRefusedSoonInALineThatHelps) {
  const auto& parameters = rc::detail::configuration().testParams;
  const int count = std::max(kFewest, parameters.maxSuccess);
  const Folder folder;
  const Material material(folder.path());
  const auto here = seen_in("."), there = seen_in(folder.path());
  const double plain = answer({{"--version"}, {}, {}}).seconds;
  const Mutators mutators = all_mutators();
  std::vector<Words> calls;
  const auto was_drawn = [&](const DescribedCommand& command) {
    return std::ranges::any_of(calls, [&](const Words& words) {
      const Words name = command.words();
      return words.size() >= name.size() && std::equal(name.begin(), name.end(), words.begin());
    });
  };
  for (int i = 0; i < count || (i < 3 * count && !std::ranges::all_of(material.commands, was_drawn)); ++i) {
    const auto& [name, mutator] = mutators.at(static_cast<size_t>(i) % mutators.size());
    Dice dice(parameters.seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15U);
    const BadInput input = mutator(dice, material);
    calls.push_back(input.words);
    const Answered answered = answer(input);
    const std::string which = name + ", number " + std::to_string(i) + " of RC_PARAMS=seed=" +
                              std::to_string(parameters.seed) + "\n  " + call_of(input) + "\n";
    EXPECT_EQ(wrong_with(answered, input), "") << which << answered.err.substr(0, 1000);
    EXPECT_LT(answered.seconds, plain + kSeconds * kSlowerBySanitizer) << which;
  }
  EXPECT_EQ(seen_in("."), here);
  EXPECT_EQ(seen_in(folder.path()), there);
  for (const DescribedCommand& command : material.commands)
    EXPECT_TRUE(was_drawn(command)) << "nothing was drawn of " << command.name;
}

// Where nothing runs, the limits of the page are taken; one beyond is not (above).
TEST(BadInputs, BeginJustBeyondTheLimits) {
  for (const Limit& limit : documented_limits()) {
    if ((limit.command != "verify" && limit.command != "faults") || limit.option == "--clean")
      continue;
    for (const std::string& value : {limit.above ? "1e-9" : limit.least, limit.most}) {
      Words words{limit.command, "--list", limit.option + "=" + value};
      if (limit.option == "--kv-heads") words.push_back("--heads=" + value);
      else if (limit.option == "--seq") words.push_back("--heads=1");
      else if (limit.option == "--trials") words.push_back("--sensitivity");
      const Ran ran = ringcheck(words);
      EXPECT_EQ(ran.code, 0) << limit.option << " " << value << "\n" << ran.err;
    }
  }
}

// Every option that takes a number has a row on the page, or nothing is drawn for it.
TEST(BadInputs, KnowTheLimitsOfEveryNumber) {
  Words known, wanted;
  for (const Limit& limit : documented_limits()) known.push_back(limit.command + " " + limit.option);
  for (const DescribedCommand& command : described_commands())
    for (const Described& option : command.options)
      if (option.type.find(" in [") != std::string::npos)
        wanted.push_back(command.name + " " + option.name);
  for (const parity::Part& part : parity::parts())
    if (!part.prefix.empty() && std::isdigit(static_cast<unsigned char>(part.standard[0])))
      wanted.push_back("verify --" + part.option);
  EXPECT_THAT(known, ::testing::IsSupersetOf(wanted));
}

}  // namespace
}  // namespace ringcheck::testing
