// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// `ringcheck report` with a history, `ringcheck compare`, and waivers, as they are typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "property_tests/cli/program.h"
#include "property_tests/reports/json_schema.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

const std::string kScaling = RINGCHECK_SOURCE_DIR "/reports/results/h200_gpu4_scaling_threads.json";
const std::string kSmoke = RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json";

// How many cases that run had, all of which passed.
std::string cases_of_smoke() {
  return std::to_string(json::parse(read_text(kSmoke)).at("summary").at("cases").get<int64_t>());
}

class Results : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string history() const { return file("history.db"); }
  // A copy of a result with an edit.
  template <class Edit>
  std::string edited(const std::string& name, const std::string& of, const Edit& edit) const {
    json result = json::parse(read_text(of));
    edit(result);
    write_text(file(name), result.dump());
    return file(name);
  }
  Folder folder_;
};

TEST_F(Results, GoIntoAHistoryAndOutOfIt) {
  const Ran add = ringcheck({"report", "add", history(), kScaling, kSmoke, "--branch", "main"});
  EXPECT_EQ(add.code, 0) << add.err;
  EXPECT_THAT(add.out, StartsWith("added "));
  EXPECT_THAT(ringcheck({"report", "add", history(), kScaling}).out, StartsWith("there already: "));
  const Ran list = ringcheck({"report", "list", history()});
  EXPECT_THAT(list.out, AllOf(HasSubstr(cases_of_smoke() + " passed"), HasSubstr("main"), HasSubstr("scaling")));
  const std::string scaling = add.out.substr(6, 36);
  EXPECT_EQ(ringcheck({"report", "export", history(), scaling.substr(0, 8), "-o", file("out")}).code, 0);
  EXPECT_EQ(read_text(file("out")), read_text(kScaling));
  EXPECT_EQ(ringcheck({"report", "export", history(), scaling}).out, read_text(kScaling));
  EXPECT_THAT(ringcheck({"report", "show", history(), scaling}).out,
              AllOf(HasSubstr("run " + scaling), HasSubstr("tflops_per_device"), HasSubstr("3 passed")));
  EXPECT_THAT(ringcheck({"report", "prune", history(), "--keep", "1"}).out, HasSubstr("removed 1 run, 1 is left"));
  EXPECT_THAT(ringcheck({"report", "show", history(), "latest"}).out, HasSubstr(cases_of_smoke() + " passed"));
}

// Whatever is wrong with one of them, nothing is added, and no file is made.
TEST_F(Results, AddAllOrNothing) {
  write_text(file("cut.json"), read_text(kScaling).substr(0, 5000));
  const std::string newer = edited("newer.json", kScaling, [](json& r) { r["schema_version"] = 99; });
  for (const std::string& bad : {file("cut.json"), newer, file("missing.json"), folder_.path()}) {
    const Ran ran = ringcheck({"report", "add", history(), kScaling, bad});
    EXPECT_EQ(ran.code, 2) << bad;
    EXPECT_THAT(ran.err, HasSubstr(bad));
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(history()));
  }
  EXPECT_THAT(ringcheck({"report", "add", kSmoke + "/x", kScaling}).err, HasSubstr(kSmoke + "/x"));
  write_text(history(), "no history at all, however long this text may be: it is one for people, who read it");
  const std::string before = read_text(history());
  for (const std::string word : {"add", "show", "export", "list"}) {
    std::vector<std::string> words{"report", word, history()};
    if (word != "list") words.push_back(word == "add" ? kScaling : "latest");
    const Ran ran = ringcheck(words);
    EXPECT_EQ(ran.code, 2) << word;
    EXPECT_THAT(ran.err, HasSubstr("is no history")) << word;
    EXPECT_EQ(read_text(history()), before);
  }
}

// A time that is none would be before all, or after all, that there is.
TEST_F(Results, StayWhereATimeToPruneIsNone) {
  ASSERT_EQ(ringcheck({"report", "add", history(), kScaling, kSmoke}).code, 0);
  for (const char* time : {"2099-13", "2099-02-30", "2099-01-01T24", "2099-1-1", "tomorrow", "99999", "2099-01-01T00:00:00+01"}) {
    const Ran ran = ringcheck({"report", "prune", history(), "--before", time});
    EXPECT_EQ(ran.code, 2) << time;
    EXPECT_THAT(ran.err, HasSubstr("'" + std::string(time) + "' is no time"));
  }
  EXPECT_THAT(ringcheck({"report", "prune", history(), "--before", "2026-01"}).out, HasSubstr("removed 0 runs, 2 are left"));
  EXPECT_THAT(ringcheck({"report", "prune", history(), "--before", "2099-02-28T23:59"}).out, HasSubstr("removed 2 runs, 0 are left"));
}

TEST_F(Results, AreComparedFromFilesAndFromAHistory) {
  const std::string worse = edited("worse.json", kSmoke, [](json& r) {
    r["cases"][3]["ranks"][0]["forward"]["messages"] = 77;
    r["cases"].erase(5);
    for (const char* count : {"cases", "passed"}) r["summary"][count] = r["summary"][count].get<int>() - 1;
  });
  std::filesystem::copy_file(kSmoke, file("copy.json"));
  EXPECT_THAT(ringcheck({"compare", kSmoke, file("copy.json")}).err, HasSubstr("copy.json' is the same run as '" + kSmoke));
  const Ran ran = ringcheck({"compare", kSmoke, worse, "--json", file("c.json"), "--markdown", file("c.md")});
  EXPECT_EQ(ran.code, 4) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("rank 0: forward.messages"), HasSubstr("-> 77"), HasSubstr("1 vanished")));
  EXPECT_THAT(read_text(file("c.md")), StartsWith("## 1 counts otherwise, 1 vanished\n"));
  const json result = json::parse(read_text(file("c.json")));
  EXPECT_THAT(schema_violations(json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json")), result),
              IsEmpty());
  EXPECT_EQ(result["compare"]["exit_code"], 4);

  const Ran add = ringcheck({"report", "add", history(), kSmoke, worse});
  const std::string id = add.out.substr(6, 36);
  EXPECT_EQ(ringcheck({"compare", id, worse, "--history", history()}).code, 4);
  EXPECT_EQ(ringcheck({"compare", "nothing", worse, "--history", history()}).code, 2);
  EXPECT_THAT(ringcheck({"compare", history(), worse}).err, HasSubstr("history.db' is a database, no JSON; `ringcheck report export`"));
}

TEST_F(Results, OfASlowerBuildAreFound) {
  const auto slowed = [&](const std::string& name, double by) {
    return edited(name, kScaling, [&](json& r) {
      for (json& one : r["measurements"])
        for (json& sample : one["samples"])
          sample = sample.get<double>() * (one["better"] == "larger" ? 1 / by : by);
    });
  };
  EXPECT_EQ(ringcheck({"compare", kScaling, slowed("once.json", 1.0001)}).code, 6);
  const Ran slower = ringcheck({"compare", kScaling, slowed("slower.json", 1.3), "--interleaved"});
  EXPECT_EQ(slower.code, 3) << slower.out;
  EXPECT_THAT(slower.out, HasSubstr("seconds kernel=wgmma"));
}

// The runs that are compared say nothing of how far earlier ones differ, nor do those of other machines.
TEST_F(Results, AreComparedByTheSpreadOfEarlierOnes) {
  ASSERT_EQ(ringcheck({"report", "measured", "-o", file("0.json"), "forward=1"}).code, 0);
  Words add{"report", "add", history()};
  for (int run = 1; run <= 25; ++run)
    add.push_back(edited(std::to_string(run) + ".json", file("0.json"), [&](json& r) {
      r["environment"]["started"] = "2026-01-01T00:" + std::to_string(run + 10) + ":00Z";
      if (run > 21) r["environment"]["cpu"] = "another";
      r["measurements"][0]["samples"] = {1 + 0.001 * (run * 7 % 5)};
    }));
  ASSERT_EQ(ringcheck(add).code, 0);
  const Ran few = ringcheck({"compare", add[3], add[23], "--history", history()});
  EXPECT_EQ(few.code, 6) << "two of 21 are compared: " << few.out;
  ASSERT_EQ(ringcheck({"compare", file("0.json"), add[23], "--history", history(), "--json", file("c.json")}).code, 0);
  EXPECT_EQ(json::parse(read_text(file("c.json")))["compare"]["speed"][0]["how"], "spread of 20 earlier runs");
}

TEST_F(Results, OfOtherMachinesAreRefused) {
  const Ran ran = ringcheck({"compare", kScaling, RINGCHECK_SOURCE_DIR "/reports/results/h200_gpu2_scaling_threads.json"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("different machines"), HasSubstr("cores '64' against '32'"),
                             HasSubstr("--across-machines")));
  EXPECT_THAT(ringcheck({"compare", kScaling, kSmoke}).err, HasSubstr("of kind verify"));
  EXPECT_THAT(ringcheck({"compare", RINGCHECK_SOURCE_DIR "/reports/results/cpu_faults.json", kSmoke}).code, 2);
}

TEST_F(Results, AreWaived) {
  const std::string worse = edited("worse.json", kSmoke, [](json& r) {
    r["cases"][3]["ranks"][0]["forward"]["messages"] = 77;
  });
  const auto waived = [&](const char* finding, const char* until) {
    write_text(file("w.json"), json{{"waivers", {{{"case", "*"}, {"finding", finding}, {"reason", "new ring"},
                                                  {"until", until}}}}}.dump());
    return ringcheck({"compare", kSmoke, worse, "--waivers", file("w.json")});
  };
  EXPECT_EQ(waived("rank 0: forward.messages", "9999-12-31").code, 0);
  EXPECT_THAT(waived("rank 0: forward.messages", "9999-12-31").out, HasSubstr("(waived: new ring)"));
  EXPECT_EQ(waived("rank 0: forward.messages", "2020-12-31").code, 1);
  EXPECT_EQ(waived("rank 1: forward.messages", "9999-12-31").code, 1);
  EXPECT_EQ(waived("rank 0: forward.messages", "tomorrow").code, 2);
  write_text(file("cut.json"), "{\"waivers\": [");
  EXPECT_THAT(ringcheck({"compare", kSmoke, "nothing.json", "--waivers", file("cut.json")}).err,
              AllOf(HasSubstr("cut.json' is no JSON"), HasSubstr("want {\"waivers\": [...]}")));
  const Ran verify = ringcheck({"verify", "--case", "ring:p2p/P2/s40/d16/float32", "--waivers", file("w.json")});
  EXPECT_EQ(verify.code, 2);
  EXPECT_THAT(verify.err, HasSubstr("waiver 1: its until must be a day such as"));
  EXPECT_EQ(waived("prity: dk", "9999-12-31").code, 2);
  EXPECT_THAT(waived("prity: dk", "9999-12-31").err, HasSubstr("waiver 1: unknown oracle 'prity'; did you mean 'parity'?"));
  waived("hang", "9999-12-31");
  const Ran passes = ringcheck({"verify", "--case", "ring:p2p/P2/s40/d16/float32", "--waivers", file("w.json")});
  EXPECT_EQ(passes.code, 1);
  EXPECT_THAT(passes.out, HasSubstr("take it away"));
}

// What reads JUnit is green where the exit code is.
TEST_F(Results, OfWhatIsWaivedAreSkippedInJUnit) {
  const auto waive = [&](const char* until) {
    write_text(file("w.json"), json{{"waivers", {{{"case", "*"}, {"finding", "parity: *"}, {"reason", "bug 1234"},
                                                  {"until", until}}}}}.dump());
  };
  const auto verified = [&](const std::string& subject) {
    return ringcheck({"verify", "--subject", subject, "--seq", "40", "--dim", "16", "--oracles", "parity",
                      "--waivers", file("w.json"), "--json", file("r.json"), "--junit", file("j.xml")});
  };
  const auto is_red = [&](const std::string& path) {
    EXPECT_TRUE(is_xml(path));
    const std::string text = read_text(path);
    return text.find("<failure") != std::string::npos || text.find("<error") != std::string::npos;
  };
  waive("9999-12-31");
  EXPECT_EQ(verified("planted[wrong_owner]").code, 0);
  EXPECT_FALSE(is_red(file("j.xml")));
  EXPECT_THAT(read_text(file("j.xml")), AllOf(HasSubstr("<skipped type=\"waived\""), HasSubstr(": bug 1234")));
  // The same of a result that is rendered later.
  const Words render{"report", "render", file("r.json"), "--as", "junit", "-o", file("later.xml")};
  EXPECT_EQ(ringcheck(render).code, 0);
  EXPECT_TRUE(is_red(file("later.xml")));
  Words with_waivers = render;
  with_waivers.insert(with_waivers.end(), {"--waivers", file("w.json")});
  EXPECT_EQ(ringcheck(with_waivers).code, 0);
  EXPECT_EQ(read_text(file("later.xml")), read_text(file("j.xml")));
  // A waiver that holds no more.
  waive("2020-12-31");
  EXPECT_EQ(ringcheck(with_waivers).code, 0);
  EXPECT_TRUE(is_red(file("later.xml")));
  waive("9999-12-31");
  EXPECT_EQ(verified("ours").code, 1);
  EXPECT_TRUE(is_red(file("j.xml")));
  EXPECT_EQ(ringcheck({"report", "render", file("r.json"), "--as", "markdown", "--waivers", file("w.json")}).code, 2);
}

// Texts that would reach a terminal, or a table, as something else.
TEST_F(Results, WithTextsThatAreNotPlainAreRefused) {
  const auto refused = [&](const Ran& ran, const std::string& value, const std::string& why) {
    EXPECT_EQ(ran.code, 2) << why;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(value), HasSubstr(why), HasSubstr("without control characters")));
    EXPECT_THAT(ran.err, Not(AnyOf(HasSubstr("\x1b"), HasSubstr("\xc2\x9b"), HasSubstr("\xff"))));
    EXPECT_FALSE(std::filesystem::exists(history()));
  };
  const auto branch = [&](const std::string& name) { return ringcheck({"report", "add", history(), kScaling, "--branch", name}); };
  refused(branch("a\nb"), "'a\\x0ab'", "control character at byte 1");
  refused(branch("\x1b[31mred"), "\\x1b[31mred", "control character at byte 0");
  refused(branch("a\xc2\x9b" "31m"), "a\\xc2\\x9b31m", "control character at byte 1");
  refused(branch("a\x7f"), "a\\x7f", "control character at byte 1");
  refused(branch("a\xff"), "a\\xff", "no UTF-8 at byte 1");
  refused(branch(std::string(256, 'x')), "xxx", "has 256 bytes; want at most 255");
  const auto with = [&](const json::json_pointer& where, const std::string& text) {
    return ringcheck({"report", "add", history(), edited("odd.json", kSmoke, [&](json& r) { r[where] = text; })});
  };
  for (const char* fact : {"commit", "device", "cpu", "host", "version", "command", "launcher", "started"})
    refused(with(json::json_pointer(std::string("/environment/") + fact), "a\rb"), fact, "'a\\x0db'");
  refused(with("/environment/device"_json_pointer, std::string(4097, 'x')), "device", "4097 bytes; want at most 4096");
  refused(with("/cases/3/name"_json_pointer, "a\tb"), "case", "'a\\x09b'");
  refused(with("/cases/3/parts/seed"_json_pointer, "a\tb"), "seed", "'a\\x09b'");
  refused(ringcheck({"report", "measured", "-o", file("m.json"), "a\x1b=1"}), "'a\\x1b'", "control character");
  EXPECT_EQ(branch(std::string(252, 'x') + "\u00e9").code, 0) << "255 bytes do";
}

TEST_F(Results, AreListedBelowEachOther) {
  ASSERT_EQ(ringcheck({"report", "add", history(), kSmoke, "--branch", "fix/what-is-long"}).code, 0);
  ASSERT_EQ(ringcheck({"report", "add", history(), kScaling, "--branch", "main"}).code, 0);
  const std::string list = ringcheck({"report", "list", history()}).out;
  const auto column = [&](const std::string& word) { const size_t at = list.find(word); return at - (list.rfind('\n', at) + 1); };
  EXPECT_EQ(column("kind"), column(" verify") + 1);
  EXPECT_EQ(column("kind"), column(" scaling") + 1);
}

TEST_F(Results, AreListedInColourWhereItIsAskedFor) {
  ASSERT_EQ(ringcheck({"report", "add", history(), kSmoke}).code, 0);
  const auto list = [&](const Words& more) {
    Words words{"report", "list", history()};
    words.insert(words.end(), more.begin(), more.end());
    return ringcheck(words);
  };
  const std::string plain = list({}).out;
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_EQ(list({"--color", "never"}).out, plain);
  const std::string painted = list({"--color", "always"}).out;
  EXPECT_THAT(painted, HasSubstr("\x1b[32m" + cases_of_smoke() + " of " + cases_of_smoke() + " passed\x1b[0m"));
  EXPECT_EQ(std::regex_replace(painted, std::regex("\x1b\\[[0-9;]*m"), ""), plain);
  EXPECT_EQ(list({"--color", "green"}).code, 2);
}

}  // namespace
}  // namespace ringcheck::testing
