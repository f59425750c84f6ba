// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Judging that was cut off goes on where it was, and says what it would have said; of other bits, of another case and under another promise
// nothing was judged before.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "cli/process/folder.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck {
namespace {

namespace fs = std::filesystem;

using parity::Case;
using parity::OracleVerdict;
using parity::RankOutput;
using parity::Status;
using parity::TensorVerdict;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Of six (batch, kv head) pairs, which are judged one by one as they are long.
const char* const kCase = "ring:p2p/headtail/causal/P2/b2/hq12/hkv3/s1032/d8/dv12/bf16";

class Folder {
 public:
  const std::string& path() const { return folder_.path(); }
  std::vector<fs::path> files() const { return {fs::directory_iterator(path()), fs::directory_iterator()}; }

 private:
  cli::TemporaryFolder folder_;
};

OracleVerdict judged_in(const std::string& folder, const Case& test, const std::function<void(RankOutput&)>& spoil,
                        const std::function<void(parity::Promise&)>& promise = {}) {
  parity::RunOptions options;
  options.judging.oracles = {"parity"};
  options.judging.kept = folder;
  return oracle(verify_spoilt(test, [&](Communicator&, RankOutput& output) { spoil(output); }, options, promise), "parity");
}

OracleVerdict judged(const Folder& folder, const Case& test, const std::function<void(RankOutput&)>& spoil = [](auto&) {},
                     const std::function<void(parity::Promise&)>& promise = {}) {
  return judged_in(folder.path(), test, spoil, promise);
}

OracleVerdict judged_anew(const Case& test, const std::function<void(RankOutput&)>& spoil = [](auto&) {}) {
  return judged_in("", test, spoil);
}

void expect_same(const OracleVerdict& one, const OracleVerdict& other) {
  EXPECT_EQ(one.status, other.status);
  ASSERT_EQ(one.tensors.size(), other.tensors.size());
  for (size_t i = 0; i < one.tensors.size(); ++i) {
    const TensorVerdict &x = one.tensors[i], &y = other.tensors[i];
    EXPECT_EQ(x.status, y.status) << x.tensor;
    EXPECT_EQ(x.max_z, y.max_z) << x.tensor;
    EXPECT_EQ(x.rms_z, y.rms_z) << x.tensor;
    EXPECT_EQ(x.hard_ratio, y.hard_ratio) << x.tensor;
    EXPECT_EQ(x.vacuity, y.vacuity) << x.tensor;
    EXPECT_EQ(x.worst, y.worst) << x.tensor;
  }
}

// Of 1032 tokens and 8 channels.
at::Tensor numbers(const std::string& name, int64_t heads) {
  return at::sin(at::arange(heads * 1032 * 8, at::kFloat) * (name[0] % 7 + 1.37)).view({1, heads, 1032, 8}).to(at::kBFloat16);
}

// Whatever the case.
void return_zeros(RankOutput& output) {
  for (const char* name : {"o", "lse", "dq", "dk", "dv"}) of(output, name).zero_();
}

std::string pairs_before(int found, int all = 6) {
  return c10::str("of ", all, " pairs of a batch entry and a key-value head ", found, " were judged before");
}

// Pairs that are judged one by one are named by where they stand in the whole.
TEST(Kept, NamesAnElementOfTheLastPair) {
  const Case test = parity::parse_case(kCase);
  const std::pair<const char*, const char*> wrong[] = {{"dk", "batch 1, head 2"}, {"o", "batch 1, head 11"}, {"lse", "batch 1, head 11"}};
  for (const auto& [tensor, place] : wrong) {
    const OracleVerdict verdict = judged_anew(test, [name = tensor](RankOutput& output) {
      of(output, name).select(0, 1).select(0, -1).add_(100);
    });
    EXPECT_THAT(verdict.findings, Contains(testing::AllOf(testing::StartsWith(tensor), HasSubstr(place))));
  }
}

TEST(Kept, GoesOnWhereItWasCutOff) {
  const Case test = parity::parse_case(kCase);
  const OracleVerdict whole = judged_anew(test);
  EXPECT_THAT(whole.findings, Not(Contains(HasSubstr("judged before"))));
  Folder folder;
  expect_same(judged(folder, test), whole);
  std::vector<fs::path> files = folder.files();
  ASSERT_EQ(files.size(), 6);
  const OracleVerdict again = judged(folder, test);
  expect_same(again, whole);
  EXPECT_THAT(again.findings, Contains(HasSubstr(pairs_before(6))));
  for (const int lost : {0, 3, 5}) fs::remove(files[lost]);
  const OracleVerdict rest = judged(folder, test);
  expect_same(rest, whole);
  EXPECT_THAT(rest.findings, Contains(HasSubstr(pairs_before(3))));
  EXPECT_EQ(folder.files().size(), 6);
}

// Of the group in which a bit changed, and of no other, whichever tensor it is of.
TEST(Kept, OtherBitsAreJudged) {
  const Case test = parity::parse_case(kCase);
  Folder folder;
  judged(folder, test);
  int count = 6;
  for (const char* name : {"o", "lse", "dq", "dk", "dv"}) {
    const auto spoil = [&](RankOutput& output) {
      at::Tensor last = of(output, name).flatten()[-1];
      last.add_(last.abs() + 1);
    };
    const OracleVerdict wrong = judged(folder, test, spoil);
    expect_same(wrong, judged_anew(test, spoil));
    EXPECT_EQ(wrong.status, Status::kFail) << name;
    EXPECT_THAT(wrong.findings, Contains(HasSubstr(pairs_before(5)))) << name;
    EXPECT_EQ(folder.files().size(), ++count) << name;
    const OracleVerdict again = judged(folder, test, spoil);
    expect_same(again, wrong);  // a failure stays one
    EXPECT_THAT(again.findings, Contains(HasSubstr(pairs_before(6)))) << name;
  }
}

TEST(Kept, WhatChangedPlacesIsJudged) {
  const Case test = parity::parse_case(kCase);
  Folder folder;
  judged(folder, test);
  const OracleVerdict heads = judged(folder, test, [](RankOutput& output) { output.dk = output.dk.flip(1); });
  EXPECT_EQ(heads.status, Status::kFail);
  EXPECT_THAT(heads.findings, Contains(HasSubstr(pairs_before(2))));  // those of the middle head
  const OracleVerdict rows = judged(folder, test, [](RankOutput& output) { output.dk = output.dk.flip(2); });
  EXPECT_EQ(rows.status, Status::kFail);
  EXPECT_THAT(rows.findings, Not(Contains(HasSubstr("judged before"))));
}

TEST(Kept, AnotherCaseAndAnotherPromiseAreJudged) {
  Folder folder;
  judged(folder, parity::parse_case(kCase));
  judged(folder, parity::parse_case(kCase), return_zeros);
  const auto expect_anew = [&](const OracleVerdict& verdict, size_t files) {
    EXPECT_THAT(verdict.findings, Not(Contains(HasSubstr("judged before"))));
    EXPECT_EQ(folder.files().size(), files);
  };
  expect_anew(judged(folder, parity::parse_case(std::string(kCase) + "/scale:0.5"), return_zeros), 18);
  const auto less = [](parity::Promise& promise) { promise.contract.u_o = 0; };
  const OracleVerdict strict = judged(folder, parity::parse_case(kCase), [](auto&) {}, less);
  EXPECT_EQ(strict.status, Status::kFail);
  expect_anew(strict, 24);
}

// The truth is another one, though the same came back.
TEST(Kept, OtherInputsAreJudged) {
  cli::TemporaryFolder inputs;
  const std::string file = inputs.file("qkv.safetensors");
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P2/b1/hq12/hkv3/s1032/d8/bf16/tensors[" + file + "]");
  parity::Safetensors content;
  for (const auto& [name, heads] : {std::pair("q", 12), {"k", 3}, {"v", 3}, {"do", 12}})
    content.tensors[name] = numbers(name, heads);
  Folder folder;
  size_t files = 0;
  for (const char* name : {"", "q", "k", "v", "do"}) {
    if (*name != 0) content.tensors[name][0][1][500][3].add_(1);
    parity::write_safetensors(file, content);
    const OracleVerdict wrong = judged(folder, test, return_zeros);
    EXPECT_EQ(wrong.status, Status::kFail);
    EXPECT_EQ(folder.files().size(), files += *name == 0 ? 3 : 1) << name;
  }
}

// Though an entry of another length lies between them, so that they are asked about one after the other.
TEST(Kept, EntriesOfTheSameBitsAreToldApart) {
  cli::TemporaryFolder inputs;
  const std::string file = inputs.file("qkv.safetensors");
  parity::Safetensors content;
  for (const auto& [name, heads] : {std::pair("q", 4), {"k", 1}, {"v", 1}, {"do", 4}})
    content.tensors[name] = numbers(name, heads).repeat({3, 1, 1, 1});
  parity::write_safetensors(file, content);
  const Case test = parity::parse_case("ring:p2p/contiguous/causal/P2/b3/lengths:1032+8+1032/hq4/hkv1/s1032/d8/bf16/tensors[" + file + "]");
  Folder folder;
  const OracleVerdict first = judged(folder, test);
  expect_same(first, judged_anew(test));
  EXPECT_THAT(first.findings, Not(Contains(HasSubstr("judged before"))));
  EXPECT_EQ(folder.files().size(), 3);
  EXPECT_THAT(judged(folder, test).findings, Contains(HasSubstr(pairs_before(3, 3))));
}

// Whose rows are no multiples of 8 bytes, in a run of one pair.
TEST(Kept, EntriesOfOddAndEvenLengths) {
  const Case test = parity::parse_case("ring:p2p/contiguous/causal/P1/b2/lengths:900+901/hq5/hkv5/s901/d8/float32");
  Folder folder;
  const OracleVerdict whole = judged_anew(test);
  EXPECT_EQ(whole.status, Status::kPass);
  expect_same(judged(folder, test), whole);
  EXPECT_THAT(judged(folder, test).findings, Contains(HasSubstr(pairs_before(10, 10))));
}

TEST(Kept, WhatCannotBeWrittenIsJudgedAll) {
  const Case test = parity::parse_case(kCase);
  const OracleVerdict verdict = judged_in("/proc/self/no-folder", test, [](auto&) {});
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_THAT(verdict.findings, Contains(HasSubstr("not all that was judged is kept")));
}

TEST(Kept, SeveralSmallPairsAreOneFile) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P2/b2/hq6/hkv3/s1032/d8/bf16");
  Folder folder;
  judged(folder, test);
  EXPECT_LT(folder.files().size(), 6);
  EXPECT_THAT(judged(folder, test).findings, Contains(HasSubstr(pairs_before(6))));
}

TEST(Kept, NothingOfASampleIs) {
  Folder folder;
  parity::RunOptions options;
  options.judging.oracles = {"parity"};
  options.judging.kept = folder.path();
  options.judging.sample = 8;
  EXPECT_EQ(verify(parity::parse_case(kCase), options).status, Status::kPass);
  EXPECT_TRUE(folder.files().empty());
}

TEST(Kept, WhatIsDamagedCountsForNothing) {
  const Case test = parity::parse_case(kCase);
  Folder folder;
  const OracleVerdict whole = judged(folder, test);
  const std::vector<fs::path> files = folder.files();
  fs::resize_file(files[0], fs::file_size(files[0]) / 2);
  std::ofstream(files[1]) << "no tensors";
  std::fstream(files[2]).seekp(static_cast<std::streamoff>(fs::file_size(files[2]) - 100)).put('\1');
  std::ofstream(files[3]).close();
  parity::Safetensors other = parity::read_safetensors(files[4]);
  other.metadata["seconds"] = "a while";
  parity::write_safetensors(files[4], other);
  other = parity::read_safetensors(files[5]);
  other.tensors["o"] = other.tensors["o"].view(at::kLong);
  parity::write_safetensors(files[5], other);
  const OracleVerdict again = judged(folder, test);
  expect_same(again, whole);
  EXPECT_THAT(again.findings, Not(Contains(HasSubstr("judged before"))));
  EXPECT_THAT(judged(folder, test).findings, Contains(HasSubstr(pairs_before(6))));  // and are mended
}

// An absent tensor stays absent, and one that nothing is known of has no numbers.
TEST(Kept, HoldsWhatIsNotThere) {
  const Case test = parity::parse_case(kCase);
  Folder folder;
  const auto without = [](RankOutput& output) { output.dv.reset(); };
  const OracleVerdict first = judged(folder, test, without);
  EXPECT_EQ(first.status, Status::kFail);
  const OracleVerdict again = judged(folder, test, without);
  expect_same(again, first);
  EXPECT_THAT(again.findings, Contains(HasSubstr(pairs_before(6))));
}

TEST(Kept, HoldsInfinitiesAndWhatIsNoNumber) {
  const Case test = parity::parse_case(kCase);
  for (const double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Folder folder;
    const auto spoil = [&](RankOutput& output) { output.o[0][1][3][2].fill_(value); };
    const OracleVerdict wrong = judged(folder, test, spoil);
    EXPECT_EQ(wrong.status, Status::kFail);
    const OracleVerdict again = judged(folder, test, spoil);
    expect_same(again, wrong);
    EXPECT_THAT(again.findings, Contains(HasSubstr(pairs_before(6))));
  }
}

}  // namespace
}  // namespace ringcheck
