// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the real command refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kCase = "ring:p2p/headtail/causal/thread/P3/hq2/hkv1/s50/d16/float32";

Ran verify(Words words) {
  words.insert(words.begin(), "verify");
  return ringcheck(words);
}

struct Wrong {
  Words words;
  const char* says;
};

TEST(Verify, WhatCannotBeIsRefusedBeforeAnyWork) {
  const Wrong table[] = {
      {{"--rotation", "foo"}, "known: allgather, alltoall, p2p"},
      {{"--balance", "foo"}, "known: contiguous"},
      {{"--kernel", "foo"}, "known:"},
      {{"--mask", "foo"}, "known: full"},
      {{"--dtype", "int8"}, "known: float64"},
      {{"--data", "foo"}, "known:"},
      {{"--strategy", "foo"}, "known:"},
      {{"--world-kind", "foo"}, "known: thread, mpi"},
      {{"--transport", "foo"}, "--transport 'foo' is unknown; known: nccl, ipc"},
      {{"--transport", ""}, "--transport"},
      {{"--transport", "ipc"}, "no case has such; say --world-kind mpi and --device cuda"},
      {{"--transport", "ipc", "--world-kind", "mpi"}, "threads copy from GPU to GPU themselves"},
      {{"--profile", "foo"}, "known: conformance, smoke, stress"},
      {{"--model", "foo"}, "known: deepseek-v3"},
      {{"--profile", "smoke", "--mask", "foo"}, "it has: causal"},
      {{"--heads", "3", "--kv-heads", "2"}, "not a multiple"},
      {{"--heads", "0"}, "at least 1"},
      {{"--dim", "0"}, "at least 1"},
      {{"--world", "0"}, "at least 1"},
      {{"--world", "-3"}, "-3"},
      {{"--seq", "-1"}, "at least 1"},
      {{"--seq", "12x"}, "12x"},
      {{"--seq", "64,,32"}, "empty value"},
      {{"--seed", "-1"}, "2^64"},
      {{"--scale", "nan"}, "neither 0 nor from 1e-30 to 10000"},
      {{"--rope", "half", "--dim", "7"}, "even dim"},
      {{"--mask", "doc[4,4]", "--seq", "9"}, "8 slots"},
      {{"--case", kCase, "--seed", "3"}, "--case and --seed contradict"},
      {{"--case", kCase, "--profile", "smoke"}, "contradict"},
      {{"--case", "nothing"}, "means nothing"},
      {{"--model", "llama3-8b", "--heads", "4"}, "--model and --heads contradict"},
      {{"--tensors", "x", "--dtype", "bf16"}, "--tensors and --dtype contradict"},
      {{"--tensors", "/nonexistent"}, "cannot be read"},
      {{"--subject", "foo"}, "known: files, ours, planted, plugin, python, undivided"},
      {{"--subject", "planted"}, "takes one bug"},
      {{"--subject", "planted[wrong_ower]"}, "did you mean wrong_owner?"},
      {{"--subject", "files"}, "takes a folder of ringcheck export"},
      {{"--subject", "files[/nonexistent]"}, "'/nonexistent' is not there"},
      {{"--subject", "ours[]"}, "leave them out"},
      {{"--subject", "undivided[foo]"}, "unknown kernel 'foo'"},
      {{"--subject", "undivided", "--kernel", "flash"}, "kernel is said of subject undivided"},
      {{"--profile", "smoke", "--subject", "undivided", "--kernel", "flash"}, "leave kernel out"},
      {{"--case", "subject:undivided/ring:p2p"}, "strategy is said of subject undivided"},
      {{"--strategy", "ring:p2p", "--rotation", "allgather"}, "leave one of them out"},
      {{"--strategy", "ring:teleport"}, "known: allgather, alltoall, p2p"},
      {{"--rotation", "p2p[keep]"}, "use allgather[keep]"},
      {{"--clean", "0"}, "from 1 to"},
      {{"--profile", "smoke", "--coverage", "--mask", "doc"}, "--coverage and --mask contradict"},
      {{"--sample", "0"}, "'0' is no number of queries and keys"},
      {{"--sample", "-4"}, "'-4' is no number"},
      {{"--sample", "some"}, "'some' is no number"},
      {{"--clean", "x"}, "number of cases"},
      {{"--clean", "5", "--seq", "9"}, "--clean and --seq contradict"},
      {{"--deadline", "0"}, "above 0"},
      {{"--case", kCase, "--bundle", "/nonexistent/folder"}, "No such file"},
      {{"--case", kCase, "--bundle", "/tmp"}, "not an empty folder"},
      {{"--case", kCase, "--json", "/nonexistent/file"}, "No such file"},
      {{"--case", kCase, "--junit", "/tmp"}, "folder"},
      {{"--case", kCase, "--json", "/tmp/same", "--junit", "/tmp/same"}, "the same file"}};
  for (const Wrong& wrong : table) {
    const Ran ran = verify(wrong.words);
    EXPECT_EQ(ran.code, 2) << wrong.words[1];
    EXPECT_THAT(ran.err, HasSubstr(wrong.says)) << wrong.words[1];
    EXPECT_THAT(ran.out, IsEmpty()) << wrong.words[1];
  }
}

TEST(Verify, AGpuThatIsNotThereIsRefused) {
  for (const Words& words : {Words{"verify", "--device", "cuda"},
                             Words{"verify", "--case", "cuda/cudnn/d64"},
                             Words{"verify", "--device", "cuda", "--clean", "5"}}) {
    const Ran ran = ringcheck(words, {{"CUDA_VISIBLE_DEVICES", ""}});
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("device cuda needs a GPU"));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(Verify, WhatCannotRunIsCountedOrRefused) {
  const Ran single = verify({"--kernel", "flash", "--dim", "16", "--dim-v", "8", "--seq", "64"});
  EXPECT_EQ(single.code, 2);
  EXPECT_THAT(single.err, HasSubstr("not supported"));
  const Ran all = verify({"--kernel", "flash", "--dim", "16", "--dim-v", "8", "--seq", "64,65"});
  EXPECT_EQ(all.code, 77);
  const Ran some =
      verify({"--kernel", "flash,plain", "--dim", "16", "--dim-v", "8", "--seq", "64"});
  EXPECT_EQ(some.code, 0);
  EXPECT_THAT(some.out, HasSubstr("1 passed, 1 not supported"));
}

}  // namespace
}  // namespace ringcheck::testing
