// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A subject that leaves out a tensor is wrong, unless it says that it has none.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <stdexcept>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/observed.h"
#include "parity/subject/world.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck {
namespace {

using parity::RankOutput;
using parity::Status;

parity::Case a_case() {
  return parity::parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float32");
}

parity::RunOptions judged_by(const std::vector<std::string>& oracles) {
  parity::RunOptions options;
  options.judging.oracles = oracles;
  return options;
}

// Whoever judges: an oracle that does not look at the tensor would let it pass.
TEST(Returned, RejectsATensorThatIsMissing) {
  for (const char* name : {"o", "lse", "dq", "dk", "dv"})
    for (const char* judge : {"parity", "repetition", "counters", "splitting"}) {
      const std::string tensor = name;
      const parity::Verdict verdict = verify_spoilt(
          a_case(), [=](Communicator&, RankOutput& o) { of(o, tensor).reset(); }, judged_by({judge}));
      EXPECT_EQ(verdict.status, Status::kFail) << name << " " << judge;
      EXPECT_EQ(oracle(verdict, "returned").status, Status::kFail) << name << " " << judge;
      EXPECT_THAT(oracle(verdict, "returned").findings,
                  testing::Contains(tensor + ": not returned"));
    }
}

TEST(Returned, NamesTheRankThatReturnsLess) {
  const parity::Verdict verdict = verify_spoilt(a_case(), [](Communicator& comm, RankOutput& o) {
    if (comm.rank() == 1) o.dv.reset();
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::ElementsAre("dv: not returned by rank 1"));
  EXPECT_THAT(oracle(verdict, "parity").findings, testing::Contains("dv: not returned"));
}

// All ranks alike, so that none is the odd one.
TEST(Returned, NamesTheTensorThatIsMisshapenOnEveryRank) {
  const std::map<std::string, at::Tensor (*)(const at::Tensor&)> shapes{
      {"slots before heads", [](const at::Tensor& x) { return x.transpose(1, 2); }},
      {"one number", [](const at::Tensor& x) { return x.sum(); }},
      {"one row", [](const at::Tensor& x) { return x.flatten(); }},
      {"two dimensions", [](const at::Tensor& x) { return x.flatten(1); }},
      {"five dimensions", [](const at::Tensor& x) { return x.unflatten(0, {1, 2}); }},
      {"no slot", [](const at::Tensor& x) { return x.narrow(2, 0, 0); }},
      {"a slot less", [](const at::Tensor& x) { return x.narrow(2, 0, x.size(2) - 1); }}};
  for (const std::string name : {"o", "lse", "dk"})
    for (const auto& [shape, made] : shapes) {
      if (name == "lse" && shape == "five dimensions") continue;
      const parity::Verdict verdict = verify_spoilt(
          a_case(), [&](Communicator&, RankOutput& o) { of(o, name) = made(of(o, name)); });
      EXPECT_EQ(verdict.status, Status::kFail) << name << ", " << shape << ": " << verdict.reason;
      if (verdict.status != Status::kFail) continue;
      EXPECT_THAT(oracle(verdict, "returned").findings,
                  testing::Contains(testing::StartsWith(name + ": every rank returned shape [")))
          << shape;
    }
}

TEST(Returned, NamesTheRankThatReturnsAnotherDtype) {
  const parity::Verdict verdict = verify_spoilt(a_case(), [](Communicator& comm, RankOutput& o) {
    if (comm.rank() == 2) o.dk = o.dk.to(at::kBFloat16);
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::ElementsAre("dk: rank 2 returned another dtype or shape than rank 0"));
}

// Also where one process answers for all ranks.
TEST(Returned, NamesTheRankWhoseInputWasWrittenOver) {
  class Writes final : public parity::WholeSubject {
   public:
    std::optional<std::string> refuses(const parity::Case&) const override { return std::nullopt; }
    parity::Promise promise(const parity::Case& test) const override { return parity::ours()->promise(test); }
    std::vector<RankOutput> solve(const parity::Case& test, const std::vector<parity::RankInput>& inputs) const override {
      const auto like = [](const at::Tensor& x) { return at::zeros_like(x); };
      std::vector<RankOutput> ranks(static_cast<size_t>(test.world));
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const parity::Problem& own = inputs[rank].local;
        ranks[rank].o = like(own.d_o), ranks[rank].lse = like(own.q.select(3, 0));
        ranks[rank].dq = like(own.q), ranks[rank].dk = like(own.k), ranks[rank].dv = like(own.v);
      }
      inputs.back().local.k.add_(1);
      return ranks;
    }
  };
  const parity::Outcome outcome = parity::solve_whole({parity::parse_case("P3/b1/hq1/hkv1/s6/d4/float32")}, Writes());
  EXPECT_THAT(outcome.missing, testing::Contains("k: rank 2 wrote into what it was given"));
}

// Whichever of the further runs of a relation it is that lacks something.
TEST(Returned, NamesWhatAFurtherRunLacks) {
  parity::ThreadRanks threads(std::chrono::seconds(30));
  for (const int lacks : {1, 2}) {
    std::array<std::atomic<int>, 3> calls{};
    const auto subject = parity::ours_with([&](Communicator& comm, const parity::Case& test, const parity::RankInput& input) {
      RankOutput output = parity::context_parallel(comm, test, input);
      if (calls.at(comm.rank())++ == lacks) output.dv.reset();
      return output;
    });
    const parity::Observed observed = parity::observe(a_case(), *subject, threads, {"pads"}).value();
    EXPECT_THAT(observed.outcome.missing, testing::ElementsAre("in a further run, for pads, dv: not returned")) << lacks;
  }
}

// Further tensors: the ranks must agree on them, and nobody claims to have judged them.
TEST(Returned, NamesTheRankWhoseFurtherTensorsAreOthers) {
  const parity::Verdict verdict = verify_spoilt(a_case(), [](Communicator& comm, RankOutput& o) {
    o.others["bias"] = {at::ones({2}), parity::Placement::kSummed};
    if (comm.rank() == 1) o.others["sink"] = {at::ones({1}), parity::Placement::kReplicated};
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::ElementsAre("further tensors: rank 1 returned bias Float[2] summed, "
                                   "sink Float[1] replicated; rank 0 returned bias Float[2] summed"));
}

TEST(Returned, RejectsCopiesOfAFurtherTensorThatDiffer) {
  const parity::Verdict verdict = verify_spoilt(a_case(), [](Communicator& comm, RankOutput& o) {
    o.others["sink"] = {at::full({1}, comm.rank() == 2 ? 1 : 0), parity::Placement::kReplicated};
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::Contains("sink: rank 2 has another one than rank 0"));
}

TEST(Returned, SaysThatNobodyJudgesAFurtherTensor) {
  const parity::Verdict verdict = verify_spoilt(a_case(), [](Communicator&, RankOutput& o) {
    o.others["bias"] = {at::ones({2}), parity::Placement::kSummed};
  });
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::ElementsAre("bias: no oracle judges it"));
}

TEST(Returned, RejectsATensorThatIsMissingInAFurtherRunOnly) {
  std::atomic<int> calls{0};
  const Spoil later = [&](Communicator& comm, RankOutput& o) {
    if (calls++ >= comm.size()) o.dk.reset();
  };
  const parity::Verdict verdict = verify_spoilt(a_case(), later, judged_by({"repetition"}));
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(oracle(verdict, "repetition").findings, testing::Contains("dk: not returned"));
  EXPECT_THAT(oracle(verdict, "returned").findings,
              testing::Contains("in a further run, for repetition, dk: not returned"));
}

TEST(Returned, ACrashInAFurtherRunNamesWhatItWasFor) {
  for (const int calls_before : {0, a_case().world}) {
    std::atomic<int> calls{0};
    const Spoil later = [&](Communicator& comm, RankOutput&) {
      if (++calls > calls_before && comm.rank() == 1) throw std::runtime_error("no more");
    };
    const parity::Verdict verdict = verify_spoilt(a_case(), later, judged_by({"repetition"}));
    EXPECT_EQ(verdict.status, Status::kCrash);
    EXPECT_THAT(verdict.reason, testing::StartsWith("rank 1 in "));
    EXPECT_THAT(verdict.reason, testing::EndsWith(calls_before == 0 ? ": no more" : ": in a further run, for repetition, no more"));
  }
}

// Ours, which turns one of the tensors that a rank is given the other way round in its place.
class Turning final : public parity::Subject {
 public:
  explicit Turning(at::Tensor parity::Problem::*input) : input_(input) {}
  std::optional<std::string> refuses(const parity::Case& test) const override { return ours_->refuses(test); }
  parity::Promise promise(const parity::Case& test) const override { return ours_->promise(test); }
  RankOutput run(Communicator& comm, const parity::Case& test, const parity::RankInput& input) const override {
    RankOutput output = ours_->run(comm, test, input);
    const at::Tensor& x = input.local.*input_;
    if (comm.rank() > 0) x.copy_(x.flip(2));
    return output;
  }

 private:
  parity::SharedSubject ours_ = parity::subject_of(a_case());
  at::Tensor parity::Problem::*input_;
};

// Whoever calls attention goes on using what it gave.
TEST(Returned, NamesTheRankThatWritesIntoWhatItWasGiven) {
  using parity::Problem;
  for (const auto& [name, input] : {std::pair("q", &Problem::q), {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}})
    for (const std::string dtype : {"float32", "bf16", "float64"}) {
      parity::RunOptions options = judged_by({"census"});
      options.subject = std::make_shared<Turning>(input);
      const parity::Verdict verdict =
          verify(parity::parse_case("full/P3/b2/hq4/hkv2/s36/d8/" + dtype), options);
      EXPECT_EQ(verdict.status, Status::kFail) << name;
      EXPECT_THAT(oracle(verdict, "returned").findings,
                  testing::ElementsAre(std::string(name) + ": rank 1 wrote into what it was given"));
    }
}

// What a subject says that it cannot show is named as not judged, and the rest is judged. O is no
// such thing.
TEST(Returned, AcceptsWhatTheSubjectSaysThatItHasNot) {
  for (const char* name : {"lse", "dq", "dk", "dv", "o"}) {
    const std::string tensor = name;
    const Spoil withholds = [=](Communicator&, RankOutput& o) { of(o, tensor).reset(); };
    const auto says_so = [=](parity::Promise& promise) { promise.shows.erase(tensor); };
    if (tensor == "o") {
      EXPECT_THROW(verify_spoilt(a_case(), withholds, {}, says_so), parity::BadCase);
      continue;
    }
    const parity::Verdict verdict = verify_spoilt(a_case(), withholds, {}, says_so);
    EXPECT_EQ(verdict.status, Status::kPass) << name;
    EXPECT_THAT(oracle(verdict, "returned").findings,
                testing::ElementsAre(tensor + ": the subject says that it has none"));
    for (const parity::TensorVerdict& row : oracle(verdict, "parity").tensors)
      EXPECT_EQ(row.status, row.tensor == tensor ? Status::kNotApplicable : Status::kPass) << name;
  }
}

// The relations judge such a subject by the rest, or say that they cannot; none fails or ends the
// program.
TEST(Returned, NoOracleFailsForWhatIsWithheld) {
  const Spoil withholds = [](Communicator&, RankOutput& o) { o.lse.reset(); };
  const parity::Verdict verdict =
      verify_spoilt(a_case(), withholds, judged_by(parity::all_oracles()),
                    [](parity::Promise& promise) { promise.shows.erase("lse"); });
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(oracle(verdict, "repetition").status, Status::kPass);
  EXPECT_EQ(oracle(verdict, "splitting").status, Status::kNotApplicable);
  EXPECT_THAT(oracle(verdict, "splitting").findings, testing::SizeIs(1));
}

// Who runs the subject counts: what it writes itself is nobody's.
TEST(Returned, ASubjectDoesNotWriteItsCounters) {
  const auto writes = parity::with_output(
      [](parity::RankOutput& output, Communicator&, const parity::Case&) {
        output.record.forward.bytes_sent = output.record.bytes_sent = 1;
        output.record.sent_to = {2};
      });
  const parity::Case test = parity::parse_case("P3/s40");
  const auto ranks = parity::solve_on_threads({test}, *writes).ranks;
  const auto honest = parity::solve_on_threads({test}, *parity::ours()).ranks;
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks.at(rank), honest.at(rank));
    EXPECT_GT(ranks.at(rank).forward.bytes_sent, 2);
  }
}

}  // namespace
}  // namespace ringcheck
