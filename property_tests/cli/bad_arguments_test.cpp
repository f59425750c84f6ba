// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What cannot be is refused before any work: by the code that docs/cli.md says, on stderr, in words
// that name value, limit and fix, and nothing is written. cli_usage_test.cpp has those of verify that
// are about what a case is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "property_tests/asan_options.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

struct Bad {
  Words words;
  Words says;
  int code = 2;
};

constexpr int kNothingRan = 77;

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

class BadArguments : public ::testing::Test {
 protected:
  BadArguments() {
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    write_text(doubled_, safetensors(R"({"q":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                     R"("q":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"));
  }

  // A file that has this header and no data.
  static std::string safetensors(const std::string& header) {
    std::string text(8, '\0');
    text[0] = static_cast<char>(header.size());
    return text + header;
  }

  void refuses(const std::vector<Bad>& table, double seconds = 10) const {
    const auto here = files_in("."), there = files_in(folder_.path());
    for (const Bad& bad : table) {
      std::string line;
      for (const std::string& word : bad.words) line += " " + word;
      const auto begin = std::chrono::steady_clock::now();
      const Ran ran = ringcheck(bad.words, {{"CUDA_VISIBLE_DEVICES", ""}});
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      EXPECT_EQ(ran.code, bad.code) << line << "\n" << ran.err;
      for (const std::string& word : bad.says) EXPECT_THAT(ran.err, HasSubstr(word)) << line;
      EXPECT_THAT(ran.out, IsEmpty()) << line;
      EXPECT_LT(took.count(), seconds * kSlowerBySanitizer) << line;
    }
    EXPECT_EQ(files_in("."), here);
    EXPECT_EQ(files_in(folder_.path()), there);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  Folder folder_;
  const std::string pipe_ = folder_.file("pipe"), doubled_ = folder_.file("doubled");
};

TEST_F(BadArguments, WordsThatNobodyKnows) {
  refuses({{{}, {"subcommand is required"}},
           {{"verfy"}, {"'verfy'", "did you mean verify?", "subcommands: calibrate"}},
           {{"verifyy"}, {"'verifyy'", "did you mean verify?"}},
           {{"--verison"}, {"'--verison'", "did you mean --version?"}},
           {{"everything"}, {"'everything'", "subcommands: calibrate"}},
           {{"verify", "--dtyp", "bf16"}, {"verify: unknown word '--dtyp'", "did you mean --dtype?"}},
           {{"verify", "--sead=3"}, {"'--sead'", "did you mean --seed?"}},
           {{"verify", "smoke"}, {"unknown word 'smoke'", "verify --help"}},
           {{"verify", "--balance", "stripped"}, {"'stripped'", "did you mean 'striped'?"}},
           {{"verify", "--data", "spread4"}, {"'spread4'", "did you mean 'spread3'?"}},
           {{"verify", "--case", "spread4"}, {"'spread4'", "did you mean 'spread3'?"}},
           {{"verify", "--case", "rign:p2p"}, {"'rign:p2p'", "did you mean 'ring:p2p'?"}},
           {{"verify", "--strategy", "ring:altoall"}, {"'altoall'", "did you mean 'ring:alltoall'?"}},
           {{"verify", "--strategy", "ring:allgather[kep]"}, {"did you mean 'ring:allgather[keep]'?"}},
           {{"verify", "--strategy", "ring:algather"}, {"'algather'", "did you mean 'ring:allgather'?"}},
           {{"verify", "--rotation", "altoall"}, {"'altoall'", "did you mean 'alltoall'?"}},
           {{"verify", "--case", "ring:p2q/causal"}, {"'p2q'", "did you mean 'ring:p2p'?"}},
           {{"verify", "--subject", "undivided[flsh]"}, {"'flsh'", "did you mean 'flash'?"}},
           {{"verify", "--rope", "half[10000,lama3]"}, {"'lama3'", "did you mean 'llama3'?"}},
           {{"verify", "--rope", "half[10000,llama3,8]"}, {"has 3 arguments", "ORIGINAL_LENGTH]"}},
           {{"verify", "--data", "tensrs[x]"}, {"'tensrs[x]'", "did you mean 'tensors[FILE]'?"}},
           {{"verify", "--mask", "casual"}, {"'casual'", "did you mean 'causal'?"}},
           {{"verify", "--dtype", "bf61"}, {"'bf61'", "did you mean 'bf16'?"}},
           {{"verify", "--profile", "smok"}, {"'smok'", "did you mean 'smoke'?"}},
           {{"verify", "--model", "llama3-9b"}, {"'llama3-9b'", "did you mean 'llama3-8b'?"}},
           {{"verify", "--model", "qwen3-8b,qwen3-8b"}, {"twice"}},
           {{"faults", "--fault", "M1333"}, {"'M1333'", "faults --list"}},
           {{"faults", "--fault", "length_rounded_dwon"}, {"did you mean 'length_rounded_down'?"}},
           {{"faults", "--kernel", "foo"}, {"'foo'", "known: ", "plain"}},
           {{"faults", "--profile", "foo"}, {"'foo'", "known: conformance, smoke, stress"}},
           {{"calibrate", "--kernel", "plian", "--contract", file("c")}, {"did you mean 'plain'?"}},
           {{"refusals", "--profile", "somke"}, {"did you mean 'smoke'?"}},
           {{"refusals", "--against", file("none")}, {"there is no list"}}});
}

TEST_F(BadArguments, ListsAreStrictWhateverIsToBeDone) {
  refuses({{{"verify", "--list", "--oracles", "foo"}, {"unknown oracle 'foo'", "known: all, "}},
           {{"verify", "--list", "--oracles", "partiy"}, {"did you mean 'parity'?"}},
           {{"verify", "--list", "--oracles", "all,foo"}, {"unknown oracle 'foo'"}},
           {{"verify", "--list", "--oracles", "all,parity"}, {"say all by itself"}},
           {{"verify", "--list", "--oracles", "parity,parity"}, {"has parity twice"}},
           {{"verify", "--list", "--json", "a.json"}, {"--json a.json", "with --list no case is run"}},
           {{"verify", "--coverage", "--junit", "-"}, {"--junit -", "with --coverage no case is run"}},
           {{"verify", "--list", "--oracles", ""}, {"--oracles", "names nothing"}},
           {{"verify", "--list", "--coverage"}, {"--list and --coverage", "leave one of the two out"}},
           {{"verify", "--list", "--deadline", ""}, {"--deadline: got ''", "want a number"}},
           {{"verify", "--list", "--deadline", "0"}, {"--deadline 0", "at most 1000000"}},
           {{"verify", "--list", "--deadline", "inf"}, {"--deadline: got 'inf'", "decimal digits"}},
           {{"verify", "--list", "--deadline", "nan"}, {"got 'nan'", "decimal digits"}},
           {{"verify", "--list", "--jobs", "0"}, {"--jobs", "0", "1 to 64"}},
           {{"verify", "--list", "--jobs", "1\n"}, {"got '1\\x0a'", "from 1 to 64"}},
           {{"verify", "--list", "--jobs", std::string(100000, '1')}, {"--jobs: got '1", "from 1 to 64"}},
           {{"verify", "--list", "--color", "red"}, {"--color: got 'red'", "want one of auto, always, never"}},
           {{"verify", "--list", "--deadline", "0x10"}, {"'0x10'", "decimal digits"}},
           {{"verify", "--list", "--jobs", "010"}, {"'010'", "decimal digits"}},
           {{"verify", "--list", "--jobs", "0x2"}, {"'0x2'", "decimal digits"}},
           {{"report", "prune", file("h"), "--keep", "010"}, {"'010'", "decimal digits"}},
           {{"plan", "--seq", "1M", "--heads", "08"}, {"'08'", "whole number"}},
           {{"plan", "--seq", "1M", "--world", "1.5"}, {"--world: got '1.5'", "a whole number from 1 to 65536"}},
           {{"verify", "--list", "--sample", "1.5"}, {"'1.5'"}},
           {{"verify", "--list", "--json", ""}, {"--json", "names nothing"}},
           {{"verify", "--list", "--json", "/nowhere/x"}, {"/nowhere/x", "folder that exists"}},
           {{"verify", "--list", "--json", "-", "--junit", "-"}, {"the same file"}},
           {{"verify", "--list", "--clean", "3", "--clean", "4"}, {"--clean", "said once"}},
           {{"verify", "--world", "1,2,1"}, {"has 1 twice"}},
           {{"verify", "--world", "2", "--world", "2"}, {"has 2 twice"}},
           {{"verify", "--seq", "1K,1024"}, {"as 1K and as 1024"}},
           {{"verify", "--profile", "smoke", "--balance", "striped,striped[1]"}, {"as striped "}},
           {{"verify", "--case", ""}, {"--case", "names nothing"}},
           {{"verify", "--json=", "--list"}, {"--json: got ''", "leave the option out"}},
           {{"compare", "--json=", file("a"), file("b")}, {"--json: got ''", "leave the option out"}},
           {{"verify", "--tensors", ""}, {"--tensors", "names nothing"}},
           {{"verify", "--model", ""}, {"--model"}},
           {{"verify", "--profile", ""}, {"--profile"}},
           {{"faults", "--list", "--json", file("f")}, {"--json and --list contradict each other"}},
           {{"faults", "--list", "--profile", "smoke"}, {"--profile and --list contradict each other"}},
           {{"faults", "--list", "--fault", "foo"}, {"unknown fault 'foo'"}},
           {{"faults", "--sensitivity", "--fault", "M13"}, {"--fault and --sensitivity contradict each other"}},
           {{"faults", "--merge", file("f"), "--device", "cuda"}, {"--device and --merge contradict each other"}},
           {{"faults", "--oracles", "foo"}, {"unknown oracle 'foo'"}},
           {{"faults", "--dtype", "int8"}, {"unknown dtype 'int8'"}},
           {{"faults", "--dtype", "bf16,bf16"}, {"has bf16 twice"}},
           {{"faults", "--fault", ""}, {"empty value"}},
           {{"faults", "--oracles", ""}, {"names nothing"}},
           {{"faults", "--shard", "3/2"}, {"3/2", "1 <= I <= N"}},
           {{"faults", "--trials", "0"}, {"--trials"}},
           {{"faults", "--list", "--trials", "5"}, {"--trials requires --sensitivity", "give that, too"}},
           {{"faults", "--jobs", "1000"}, {"1 to 256"}},
           {{"calibrate", "--seeds", "3", "--contract", file("c")}, {"--seeds", "20"}},
           {{"calibrate", "--contract", ""}, {"names nothing"}},
           {{"calibrate"}, {"--contract"}},
           {{"doctor", "--json", ""}, {"names nothing"}},
           {{"doctor", "--deadline", "0"}, {"--deadline", "0.1"}},
           {{"doctor", "--deadline", "nan"}, {"nan", "0.1"}}});
}

TEST_F(BadArguments, SizesThatNoMachineHas) {
  const std::string huge = "ring:p2p/P2/hq16/hkv16/s256M/d256";
  refuses({{{"verify", "--seq", "9999999999999999999"}, {"9999999999999999999", "not a size"}},
           {{"verify", "--batch", "1M"}, {"batch is 1048576", "at most 65536"}},
           {{"verify", "--heads", "128K"}, {"heads is 131072", "at most 65536"}},
           {{"verify", "--dim", "1M"}, {"dim is 1048576", "at most 65536"}},
           {{"verify", "--world", "1e30"}, {"--world: '1e30'", "from 1 to 256"}},
           {{"verify", "--dim", "1e30"}, {"--dim: '1e30'", "from 1 to 65536"}},
           {{"verify", "--world", "1M"}, {"world is 1048576", "at most 256"}},
           {{"verify", "--seq", "1024M", "--heads", "64K", "--dim", "64K", "--batch", "64K"},
            {"at most 2^50", "smaller"}},
           {{"verify", "--case", "ring:p2p/striped[9999999]"}, {"9999999", "at most 256"}},
           {{"verify", "--scale", "1e300"}, {"1e+300", "10000", "neither 0 nor from 1e-30 to 10000"}},
           {{"verify", "--scale", "-1e20"}, {"-1e+20", "neither 0 nor from 1e-30 to 10000"}},
           {{"verify", "--scale", "1e-300"}, {"1e-300", "1e-30"}},
           {{"verify", "--scale", "inf"}, {"inf", "neither 0 nor from 1e-30 to 10000"}},
           {{"verify", "--rope", "half[inf]"}, {"above 1"}},
           {{"verify", "--rope", "half[10000,llama3,inf,1,4,64]"}, {"finite numbers"}},
           {{"verify", "--case", huge}, {"needs at least", "GiB", "this host has", "smaller seq"}},
           {{"verify", "--seq", "256M", "--heads", "16", "--dim", "256"}, {"needs at least"}}});
}

TEST_F(BadArguments, FilesThatCannotBeUsed) {
  const std::string other = file("missing"), smoke = RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json";
  const std::string second = file("second.json"), results = RINGCHECK_SOURCE_DIR "/reports/results/";
  const std::string faults = results + "cpu_faults.json", limits = results + "cpu_sensitivity.json";
  const std::string clean = results + "cpu_clean.summary.json";
  std::string later = read_text(smoke);
  write_text(second, later.replace(later.find("\"started\": \"20"), 14, "\"started\": \"21"));
  refuses({{{"verify", "--case", "tensors[/etc/passwd]"}, {"/etc/passwd", "not in this format"}},
           {{"verify", "--data", "tensors[" + other + "]"}, {other, "No such file"}},
           {{"verify", "--case", "tensors"}, {"names no file", "tensors[FILE.safetensors]"}},
           {{"verify", "--case", "tensors[]"}, {"names no file"}},
           {{"verify", "--tensors", pipe_}, {"not a regular file"}},
           {{"verify", "--tensors", folder_.path()}, {"not a regular file"}},
           {{"verify", "--tensors", doubled_}, {"\"q\" stands in it twice"}},
           {{"verify", "--json", pipe_}, {"it is a pipe", "- is stdout"}},
           {{"verify", "--json", folder_.path()}, {"it is a folder"}},
           {{"guard", pipe_}, {"not a regular file"}},
           {{"guard", doubled_}, {"\"q\" stands in it twice"}},
           {{"guard", doubled_, doubled_}, {"given twice"}},
           {{"guard", other}, {other, "No such file"}},
           {{"guard"}, {"required"}},
           {{"report", pipe_}, {"regular file"}},
           {{"report", other}, {other, "No such file"}},
           {{"report", "/etc/passwd"}, {"is no JSON"}},
           {{"report"}, {"RESULT is required"}},
           {{"report", "add", file("h")}, {"RESULT is required"}},
           {{"report", "add", file("h"), other}, {other, "No such file"}},
           {{"report", "list", other}, {other, "No such file"}},
           {{"report", "list", pipe_}, {pipe_, "no regular file"}},
           {{"report", "show", folder_.path(), "latest"}, {"no regular file"}},
           {{"report", "export", other, "latest", "-o", "/nowhere/x"}, {"/nowhere/x"}},
           {{"report", "join", other}, {"--output is required"}},
           {{"report", "join", other, "-o", file("x")}, {other, "No such file"}},
           {{"report", "measured", "a=1"}, {"--output is required"}},
           {{"report", "measured", "-o", file("x")}, {"TIME is required"}},
           {{"report", "measured", "-o", file("x"), "a"}, {"'a' is no time", "NAME=SECONDS"}},
           {{"report", "measured", "-o", file("x"), "=1"}, {"'=1' is no time"}},
           {{"report", "measured", "-o", file("x"), "a=-1"}, {"'a=-1' is no time"}},
           {{"report", "measured", "-o", file("x"), "a=nan"}, {"'a=nan' is no time"}},
           {{"report", "measured", "-o", file("x"), "a=1s"}, {"'a=1s' is no time"}},
           {{"report", "measured", "-o", "/nowhere/x", "a=1"}, {"/nowhere/x"}},
           {{"report", "render", other, "--as", "junit"}, {other, "No such file"}},
           {{"report", "render", pipe_, "--as", "junit"}, {pipe_, "regular file"}},
           {{"report", "render", "/etc/passwd", "--as", "junit"}, {"is no JSON"}},
           {{"report", "render", other}, {"--as is required"}},
           {{"report", "render", other, "--as", "jnuit"}, {"'jnuit'", "did you mean 'junit'?"}},
           {{"report", "render", other, "--as", "junit", "-o", "/nowhere/x"}, {"/nowhere/x"}},
           {{"report", "html", other, "-o", file("p")}, {other, "No such file"}},
           {{"report", "html", pipe_, "-o", file("p")}, {pipe_, "no regular file"}},
           {{"report", "html", "/etc/passwd", "-o", file("p")}, {"is no JSON"}},
           {{"report", "html", other, "-o", "/nowhere/x"}, {"/nowhere/x"}},
           {{"report", "html", other, "-o", ""}, {"--output"}},
           {{"report", "html", other}, {"--output is required"}},
           {{"report", "html", other, "-o", file("p"), "--last", "0"}, {"--last"}},
           {{"report", "html", smoke, "-o", file("p"), "--last", "3"}, {"--last 3 is of a history", "report add"}},
           {{"report", "prune", other}, {"either --keep N or --before TIME"}},
           {{"report", "prune", other, "--keep", "0"}, {"--keep"}},
           {{"report", "prune", other, "--before", "soon"}, {"'soon' is no time", "2026-11-22"}},
           {{"compare", other}, {"NEW is required"}},
           {{"compare", other, other}, {other, "No such file"}},
           {{"compare", pipe_, other}, {pipe_, "regular file"}},
           {{"compare", other, other, "--margin", "2"}, {"--margin", "'2'", "0 to 1"}},
           {{"compare", other, other, "--margin", "nan"}, {"--margin", "'nan'", "0 to 1"}},
           {{"compare", other + ",", other}, {"empty value", "one comma"}},
           {{"compare", smoke, second, "--ignore", "kernle"}, {"did you mean 'kernel'?"}},
           {{"compare", smoke, second, "--ignore", "kernel,,seq"}, {"'kernel,,seq' has an empty value"}},
           {{"report", "lsit", other}, {"'lsit'", "did you mean list?"}},
           {{"report", "list", other, "--lsat", "3"}, {"report list", "did you mean --last?"}},
           {{"report", "list", other, "more"}, {"report list", "'more'"}},
           {{"report", smoke, "list", other}, {smoke, "stands before list"}},
           {{"report", "list", ""}, {"HISTORY", "names nothing"}},
           {{"report", "list", other, "--last", "0"}, {"--last", "1 to 1000000"}},
           {{"result", "recvoer", other}, {"did you mean recover?", "subcommands: recover"}},
           {{"compare", other, other, "--history", other}, {other, "No such file"}},
           {{"compare", other, other, "--json", "/nowhere/x"}, {"/nowhere/x"}},
           {{"verify", "--waivers", other, "--case", "ring:p2p"}, {other, "No such file"}},
           {{"faults", "--merge", pipe_}, {"regular file"}},
           {{"faults", "--json", "/nowhere/x"}, {"/nowhere/x"}},
           {{"detection", pipe_, pipe_, pipe_}, {"regular file"}},
           {{"detection", faults, limits, clean, clean}, {clean, "is given twice"}},
           {{"detection", faults, limits, smoke}, {smoke, "not of random clean cases"}},
           {{"calibrate", "--contract", "/nowhere/x"}, {"/nowhere/x"}},
           {{"refusals", "--json", "/nowhere/x"}, {"/nowhere/x"}}});
}

TEST_F(BadArguments, DevicesThatAreNotThere) {
  refuses({{{"faults", "--device", "tpu", "--fault", "M13"}, {"tpu", "cpu", "cuda"}},
           {{"calibrate", "--device", "tpu", "--contract", file("c")}, {"tpu", "cuda"}},
           {{"refusals", "--device", "tpu"}, {"tpu", "cuda"}},
           {{"verify", "--device", "tpu"}, {"'tpu'", "known: cpu, cuda"}},
           {{"verify", "--device", "cuda"}, {"device cuda needs a GPU"}},
           {{"faults", "--kernel", "cudnn"}, {"cudnn", "device cpu", "plain", "another --device"}},
           {{"faults", "--device", "cuda", "--kernel", "cudnn"}, {"needs a GPU"}, kNothingRan},
           {{"faults", "--device", "cuda"}, {"nothing ran: ", "needs a GPU"}, kNothingRan},
           {{"calibrate", "--device", "cuda", "--kernel", "cudnn", "--contract", file("c")},
            {"needs a GPU"},
            kNothingRan}});
}

}  // namespace
}  // namespace ringcheck::testing
