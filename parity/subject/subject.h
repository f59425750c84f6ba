// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cp/layout/layout.h"
#include "cp/registry.h"
#include "cp/worlds/communicator.h"
#include "parity/case/case.h"
#include "parity/case/problem.h"
#include "parity/subject/promise.h"
#include "parity/subject/rank_record.h"

namespace ringcheck::parity {

// What one rank has: its slots of the problem, and where they belong.
struct RankInput {
  Problem local;
  Positions positions;  // of its queries, and of its keys where `layout` does not say otherwise
  // Where there is one, the ranks hold queries and keys as it says and not as the case does, by a
  // subject that takes any layout.
  std::optional<Layout> layout = {};
  // Where there is one, by a subject whose passes can be called one by one, and with what it made for
  // this layout, under another mask before: all of this other problem comes first; and between the forward pass of
  // `local` and the backward pass that counts come a backward pass whose gradients are dropped and all
  // of the other problem again.
  std::optional<Problem> meanwhile = {};
  // As an operation of autograd, by a subject that is one, with two backward passes through one graph.
  bool by_autograd = false;
};

// How the values of the ranks make one tensor: pieces in the order of the sequence, the same on
// every rank, or terms of a sum.
enum class Placement { kSharded, kReplicated, kSummed };

// A further tensor of an outcome, by name: of parameters, of a bias, of a sink.
struct Placed {
  at::Tensor value;
  Placement placement = Placement::kSharded;
};

// What one rank gives back, [batch, heads, slots, dim], lse without dim, in any dtype: what its
// subject promised to show. What is missing otherwise is a failure. At pad slots lse is -inf and
// everything else zero.
struct RankOutput {
  at::Tensor o, lse, dq, dk, dv;
  at::Tensor q_rotated, k_rotated;  // q and k as they were attended
  RankRecord record;  // whoever runs the subject counts, and writes it when it has returned
  bool did_as_asked = false;  // what the input asked for beside the passes was done
  // Where it allocates in another process: the most that it held there at a time, 0 where nobody counted.
  std::optional<int64_t> peak_elsewhere = {};
  std::map<std::string, Placed> others = {};
};

// The implementation under test: says what it cannot do, what it promises, and does it.
class Subject {
 public:
  virtual ~Subject() = default;
  // Why it cannot run a case, or nothing: valid, but not supported.
  virtual std::optional<std::string> refuses(const Case& test) const = 0;
  virtual Promise promise(const Case& test) const = 0;
  // How many ranks it can be given, those of another group among them; 0: any number.
  virtual int most_ranks(const Case&) const { return 0; }
  // The nearest case that it takes, to make of the cases of a profile some that it can run.
  virtual Case fitted(const Case& test) const { return test; }
  // On one rank. Collective.
  virtual RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const = 0;
};

// One that answers for all ranks at once: in one process that holds them all, or from files.
class WholeSubject : public Subject {
 public:
  // By rank, as the inputs; as many outputs as ranks.
  virtual std::vector<RankOutput> solve(const Case& test,
                                        const std::vector<RankInput>& inputs) const = 0;
  RankOutput run(Communicator&, const Case&, const RankInput&) const final {
    throw std::logic_error("this subject answers for the whole world, not for a rank");
  }
};

using SharedSubject = std::shared_ptr<const Subject>;

// Makes the subject of a name from the arguments in brackets behind it. Throws BadCase. Adding one
// is one file.
using Subjects = Registry<std::function<SharedSubject(const std::vector<std::string>& arguments)>>;

// Why a subject is not given a case, or nothing: what it says itself, and that nobody is asked about
// batch entries of different lengths who has not promised to take them.
std::optional<std::string> refuses(const Case& test, const Subject& subject);

// The subject that a case names. Throws BadCase where there is none of that name.
SharedSubject subject_of(const Case& test);

}  // namespace ringcheck::parity
