// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Subjects from outside, over abi/ringcheck.h: right ones pass, what is wrong is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "parity/case/text.h"
#include "parity/subject/subject.h"
#include "property_tests/cli/program.h"

namespace ringcheck {
namespace {

using ::testing::HasSubstr;
using testing::Ran;
using testing::ringcheck;

std::string plugin(const std::string& how, const std::string& library = RINGCHECK_SPOILT_PLUGIN) {
  return "subject:plugin[" + library + "," + how + "]";
}

Ran verified(const std::string& subject, const std::string& parts = "causal/P3/s50/hq4/hkv2/float32",
             const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"verify", "--case", subject + "/" + parts};
  words.insert(words.end(), further.begin(), further.end());
  return ringcheck(words);
}

// Lines may break where they like.
void expect_named(const Ran& ran, int code, const std::vector<std::string>& words) {
  EXPECT_EQ(ran.code, code) << ran.out << ran.err;
  const std::string said = std::regex_replace(ran.out + ran.err, std::regex("\\s+"), " ");
  for (const std::string& word : words) EXPECT_THAT(said, HasSubstr(word));
}

TEST(Plugin, IsRightInThreadsAndProcesses) {
  for (const std::string parts :
       {"causal/P3/s50/hq4/hkv2/float32", "full/P4/s33/b2/hq6/hkv3/d8/dv16/float64/contiguous",
        "causal/P2/s40/bf16/striped[3]", "causal/mpi/P2/s40/float64"})
    expect_named(verified(plugin("nothing"), parts), 0, {"1 passed"});
}

TEST(Plugin, IsAskedForFurtherRuns) {
  expect_named(verified(plugin("nothing"), "causal/P3/s50/float64",
                        {"--oracles", "parity,groups,strides,repetition"}),
               0, {"1 passed"});
  expect_named(verified(plugin("nothing"), "causal/mpi/P3/s50/float64", {"--oracles", "parity,groups"}), 0, {"1 passed"});
}

TEST(Plugin, SaysHowItsAnglesAreRounded) {
  const parity::Case test = parity::parse_case("causal/P3/s50/d8/float32/rope:half[10000]");
  const auto promised = [&](const char* how) {
    return parity::Subjects::at("plugin")({RINGCHECK_SPOILT_PLUGIN, how})->promise(test).u_angle;
  };
  EXPECT_EQ(promised("nothing"), 0x1p-53);
  EXPECT_EQ(promised("coarse_angles"), 0x1p-20);
}

TEST(Plugin, NamesWhatIsWrongAndWhere) {
  expect_named(verified(plugin("dk_scaled")), 1, {"dk", "rank 1"});
  expect_named(verified(plugin("lse_shifted")), 1, {"lse", "rank 1"});
  expect_named(verified(plugin("no_dv")), 1, {"dv: not returned by rank 1"});
  expect_named(verified(plugin("o_flat")), 1, {"o: rank 1 returned another dtype or shape"});
}

TEST(Plugin, NamesWhoEndsHow) {
  expect_named(verified(plugin("fails")), 5, {"rank 1", "failed with 7: the moon is full"});
  expect_named(verified(plugin("dies")), 5, {"rank 1"});
  expect_named(verified(plugin("exits")), 5, {"rank 1"});
  expect_named(verified(plugin("gathers_scraps")), 5, {});  // whoever notices first
  expect_named(verified(plugin("ignores_a_failure")), 5, {"rank 1"});
  expect_named(verified(plugin("hangs"), "causal/P3/s50/float32", {"--deadline", "2"}), 5, {"rank 1"});
}

TEST(Plugin, IsRefusedBeforeAnyWork) {
  expect_named(verified("subject:plugin"), 2, {"names no library; want plugin[libmine.so]"});
  expect_named(verified(plugin("nothing", "/no/such/library.so")), 2,
               {"'/no/such/library.so' cannot be loaded", "want the path of a shared library"});
  expect_named(verified(plugin("nothing", __FILE__)), 2, {"cannot be loaded"});
  expect_named(verified(plugin("nothing", RINGCHECK_NO_PLUGIN)), 2,
               {"does not define ringcheck_plugin"});
  expect_named(verified(plugin("nothing", RINGCHECK_NEWER_PLUGIN)), 2,
               {"is of version 2 of the interface, and this program is of 1"});
  expect_named(verified(plugin("shows_nonsense")), 2, {"a tensor 'p'"});
  expect_named(verified(plugin("of_no_kernel")), 2, {"'flesh'"});
  expect_named(verified(plugin("exits_when_asked")), 2, {"ended the process when it was asked"});
  expect_named(verified(plugin("crashes_when_asked")), 2,
               {"crashes_when_asked", "causal", "ended the process when it was asked, with signal 11"});
  expect_named(verified(plugin("hangs_when_asked"), "causal/P3/s50/float32", {"--deadline", "2"}), 2,
               {"did not answer within 2 s; want functions that return"});
  expect_named(verified(plugin("nothing", "/dev/null")), 2, {"'/dev/null' is no file"});
  const testing::Folder folder;  // loading what was cut off in the middle ends a process
  const std::string cut = folder.file("cut.so");
  testing::write_text(cut, testing::read_text(RINGCHECK_SPOILT_PLUGIN).substr(0, 3000));
  expect_named(verified(plugin("nothing", cut)), 2, {"plug-in '" + cut + "' cannot be loaded"});
}

TEST(Plugin, RefusesWhatItCannotDo) {
  expect_named(verified(plugin("nothing"), "window[4]/P2/s40/float32"), 2,
               {"gathered knows the masks causal and full"});
  expect_named(verified(plugin("nothing", RINGCHECK_LONELY_PLUGIN)), 2,
               {"takes no ranks that are threads of one process; use --world-kind mpi"});
  expect_named(verified(plugin("nothing", RINGCHECK_LONELY_PLUGIN), "causal/mpi/P2/s40/float32"), 0,
               {"1 passed"});
}

}  // namespace
}  // namespace ringcheck
