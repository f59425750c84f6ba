// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/runner.h"
#include "parity/subject/out_of_memory.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kWhy = "planted to see how a case ends";
constexpr int kFailing = 1;  // the rank

// Takes everything, and promises what plain loops do.
class PromisesAsPlain : public Subject {
 public:
  std::optional<std::string> refuses(const Case&) const override { return std::nullopt; }
  Promise promise(const Case& test) const final { return plain::subject().promise(test); }
};

// One of whose ranks does not come to an end.
class Ends final : public PromisesAsPlain {
 public:
  explicit Ends(Status how) : how_(how) {}

  std::optional<std::string> refuses(const Case&) const override {
    return how_ == Status::kNotSupported ? std::optional<std::string>(kWhy) : std::nullopt;
  }
  RankOutput run(Communicator& comm, const Case&, const RankInput& input) const override {
    if (comm.rank() == kFailing && how_ == Status::kCrash) throw std::runtime_error(kWhy);
    const int nobody = comm.rank() == kFailing ? 0 : kFailing;
    comm.transfer({}, {{at::empty_like(input.local.q), nobody}}, {"wait for nobody"}).wait();
    throw std::logic_error("nobody sends anything");
  }

 private:
  Status how_;
};

// Answers as one that takes new memory for zero: something else where LibTorch fills it with NaN.
class TakesForZero final : public PromisesAsPlain {
 public:
  RankOutput run(Communicator&, const Case&, const RankInput& input) const override {
    const at::Tensor& q = input.local.q;
    RankOutput output;
    const at::Context& context = at::globalContext();
    const bool filled = context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory();
    output.o = filled ? at::ones_like(q) : at::zeros_like(q);
    output.lse = at::zeros(q.sizes().slice(0, 3), q.options());
    output.dq = at::zeros_like(q);
    output.dk = output.dv = at::zeros_like(input.local.k);
    return output;
  }
};

// Returns no dV, from its second call on.
class Forgets final : public PromisesAsPlain {
 public:
  RankOutput run(Communicator&, const Case&, const RankInput& input) const override {
    const Problem& own = input.local;
    RankOutput output;
    output.o = output.dq = own.q;
    output.lse = own.q.select(3, 0);
    output.dk = own.k;
    if (!called_) output.dv = own.v;
    called_ = true;
    return output;
  }

 private:
  mutable bool called_ = false;  // by the only rank
};

// A tensor that a further run lacks is missing, whether or not the relation that asked for the run looks at it.
void examine_forgotten(SelfTest& result) {
  RunOptions options;
  options.judging.oracles = {"repetition"};
  options.subject = std::make_shared<Forgets>();
  const Verdict verdict = verify(parse_case("causal/P1/hq2/hkv1/s12/d4"), options);
  const bool missed = std::ranges::any_of(verdict.oracles, [](const OracleVerdict& oracle) {
    return oracle.name == "returned" && std::ranges::count(oracle.findings, "in a further run, for repetition, dv: not returned") > 0;
  });
  result.demand(verdict.status == Status::kFail && missed, "a tensor that a further run lacks is not missed");
}

// What is to surround a further run surrounds it.
void examine_surroundings(const Case& test, SelfTest& result) {
  RunOptions options;
  options.judging.oracles = {"poison"};
  options.subject = std::make_shared<TakesForZero>();
  result.demand(verify(test, options).status == Status::kFail, "poison accepts a subject that takes new memory for zero");
}

// The reference has no memory left: nobody knows whether the subject is right.
Verdict verify_without_memory(const Case& test) {
  RunOptions options;
  options.observer = [](int, const Operation& operation) {
    if (std::string(operation.name) == "judge") throw OutOfMemory(kWhy);
  };
  return verify(test, options);
}

}  // namespace

Verdict verify_within(std::chrono::milliseconds deadline, const Case& test, const SharedSubject& subject) {
  RunOptions options;
  options.deadline = deadline;
  options.subject = subject;
  return verify(test, options);
}

void examine_failures(const VerifyCase& verify, SelfTest& result) {
  const Case test = parse_case("ring:p2p/causal/P3/hq2/hkv1/s12/d4");
  for (const Status how : {Status::kCrash, Status::kHang, Status::kNotSupported}) {
    // Only a hang lasts as long: a rank that fails ends the others, however late it starts on a busy machine.
    const std::chrono::milliseconds deadline(how == Status::kHang ? 100 : 30000);
    const Verdict verdict = verify(deadline, test, std::make_shared<Ends>(how));
    result.demand(verdict.status == how, c10::str("a case that is to end as ", to_text(how), " ended as ", to_text(verdict.status)));
    const bool says = how == Status::kHang ? !verdict.reason.empty() : verdict.reason.find(kWhy) != std::string::npos;
    result.demand(says, c10::str("a case that ended as ", to_text(how), " does not say why: ", verdict.reason));
  }
  // Who is asked for something that it takes is asked to run it.
  for (const char* mask : {"full", "window[5]", "doc[3,17:20,17]", "docfull[8,32]", "prefix[7]"})
    for (const char* world : {"P2", "P8"}) {
      const Case asked = parse_case(c10::str(mask, "/striped/", world, "/hq8/hkv8/s40/d4"));
      result.demand(verify(std::chrono::seconds(30), asked, std::make_shared<Ends>(Status::kCrash)).status == Status::kCrash,
                    c10::str("a case that its subject takes is not run: ", to_text(asked)));
    }
  examine_surroundings(test, result);
  examine_forgotten(result);
  result.demand(verify_without_memory(test).status == Status::kInconclusive, "a case that the reference had no memory for is not inconclusive");
}

}  // namespace ringcheck::parity
