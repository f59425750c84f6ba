// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/outcome.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <sstream>

#include "cp/layout/shard.h"
#include "parity/subject/calls.h"
#include "parity/subject/checks/given.h"
#include "parity/subject/checks/pads.h"
#include "parity/subject/further_tensors.h"
#include "parity/subject/gather.h"
#include "parity/subject/rank_numbers.h"

namespace ringcheck::parity {
namespace {

// One tensor of all ranks, in sequence order on rank 0.
at::Tensor collect(Communicator& comm, const std::vector<Positions>& shards, int64_t length,
                   const at::Tensor& local) {
  const at::Tensor own = local.contiguous();
  std::vector<at::Tensor> sends(comm.size()), receives(comm.size());
  sends[0] = own;
  if (comm.rank() == 0)
    for (at::Tensor& receive : receives) receive = at::empty_like(own);
  comm.all_to_all(sends, receives, {"collect"}).wait();
  return comm.rank() == 0 ? unshard(receives, 2, shards, length) : at::Tensor();
}

std::vector<RankRecord> collect(Communicator& comm, const RankRecord& own) {
  std::vector<RankRecord> records;
  for (const at::Tensor& values : gather(comm, at::tensor(numbers_of(own), at::kLong)))
    records.push_back(record_from({values.const_data_ptr<int64_t>(), static_cast<size_t>(values.numel())}));
  return records;
}

// Every rank knows from the numbers of all whether there is anything to say.
void add_unwaited(Communicator& comm, const RankRecord& own, std::vector<RankRecord>& records) {
  if (std::ranges::none_of(records, [](const RankRecord& record) {
        return record.forward.unwaited + record.backward.unwaited > 0;
      }))
    return;
  std::string lines;
  for (const std::string& words : own.unwaited) lines += words + "\n";
  const std::vector<std::string> texts = gather(comm, lines);
  for (size_t rank = 0; rank < records.size(); ++rank) {
    std::istringstream text(texts[rank]);
    for (std::string line; std::getline(text, line);) records[rank].unwaited.push_back(line);
  }
}

void add_timelines(Communicator& comm, const Timeline& own, std::vector<RankRecord>& records) {
  std::vector<Timeline> timelines;
  for (const std::string& text : gather(comm, text_of(own)))
    timelines.push_back(timeline_from(text));
  align(timelines);
  for (size_t rank = 0; rank < records.size(); ++rank)
    records[rank].timeline = std::move(timelines[rank]);
}

using Shards = std::vector<Positions>;

struct Returned {
  const char* name;
  at::Tensor RankOutput::*from;
  at::Tensor& (*to)(Outcome&);
  Shards Layout::*side = &Layout::queries;
};
constexpr Returned kReturned[] = {
    {"o", &RankOutput::o, [](Outcome& x) -> at::Tensor& { return x.tensors.o; }},
    {"lse", &RankOutput::lse, [](Outcome& x) -> at::Tensor& { return x.tensors.lse; }},
    {"dq", &RankOutput::dq, [](Outcome& x) -> at::Tensor& { return x.tensors.dq; }},
    {"dk", &RankOutput::dk, [](Outcome& x) -> at::Tensor& { return x.tensors.dk; },
     &Layout::keys},
    {"dv", &RankOutput::dv, [](Outcome& x) -> at::Tensor& { return x.tensors.dv; },
     &Layout::keys},
    {"q", &RankOutput::q_rotated, [](Outcome& x) -> at::Tensor& { return x.q_rotated; }},
    {"k", &RankOutput::k_rotated, [](Outcome& x) -> at::Tensor& { return x.k_rotated; },
     &Layout::keys}};

// What a rank has of a tensor, as numbers: nothing, or its dtype and sizes.
constexpr int64_t kDescription = 6;
std::vector<int64_t> description(const at::Tensor& x) {
  std::vector<int64_t> numbers(kDescription, -1);
  if (!x.defined()) return numbers;
  numbers[0] = static_cast<int64_t>(x.scalar_type());
  for (int64_t d = 0; d < std::min<int64_t>(x.dim(), kDescription - 1); ++d)
    numbers[static_cast<size_t>(d + 1)] = x.size(d);
  return numbers;
}

// Why tensors of these sizes are not the slots of a rank; they may be wrong otherwise.
std::optional<std::string> misshapen(at::IntArrayRef sizes, const Positions& slots) {
  if ((sizes.size() == 3 || sizes.size() == 4) && sizes[2] == count(slots)) return std::nullopt;
  return c10::str("returned shape ", sizes, ", whose dimension 2 is not the ", count(slots), " slots of a rank");
}

// What the ranks returned, the same on every one of them: of each tensor who lacks it, and the first
// whose dtype or sizes are not those of rank 0, which no transport could put together.
struct Returns {
  std::vector<int> lacking;
  int unlike = -1;
};

std::vector<Returns> returns_of(Communicator& comm, const RankOutput& own) {
  std::vector<int64_t> numbers;
  for (const Returned& tensor : kReturned) {
    const std::vector<int64_t> one = description(own.*tensor.from);
    numbers.insert(numbers.end(), one.begin(), one.end());
  }
  const std::vector<at::Tensor> gathered = gather(comm, at::tensor(numbers, at::kLong));
  std::vector<Returns> list(std::size(kReturned));
  for (int rank = 0; rank < comm.size(); ++rank)
    for (size_t i = 0; i < list.size(); ++i) {
      const int64_t* here = gathered[rank].const_data_ptr<int64_t>() + i * kDescription;
      const int64_t* first = gathered[0].const_data_ptr<int64_t>() + i * kDescription;
      if (here[0] < 0) list[i].lacking.push_back(rank);
      if (list[i].unlike < 0 && !std::equal(here, here + kDescription, first)) list[i].unlike = rank;
    }
  return list;
}

// A tensor that some rank lacks is nobody's; a failure where the subject had promised it.
void note_missing(const std::string& name, const std::vector<int>& lacking, int world,
                  const Promise& promise, Outcome& outcome) {
  if (!promise.shows.contains(name)) return;
  outcome.missing.push_back(static_cast<int>(lacking.size()) == world
                                ? name + ": not returned"
                                : c10::str(name, ": not returned by rank ", lacking.front()));
}

void collect(Communicator& comm, const Run& run, const Promise& promise, const RankOutput& own,
             Outcome& outcome) {
  const Layout layout = layout_of(run);
  const std::vector<Returns> returns = returns_of(comm, own);
  for (size_t i = 0; i < returns.size(); ++i)
    if (!returns[i].lacking.empty())
      note_missing(kReturned[i].name, returns[i].lacking, comm.size(), promise, outcome);
    else if (returns[i].unlike >= 0)
      outcome.missing.push_back(c10::str(kReturned[i].name, ": rank ", returns[i].unlike,
                                         " returned another dtype or shape than rank 0"));
    else if (const auto why = misshapen((own.*kReturned[i].from).sizes(), (layout.*kReturned[i].side)[0]))
      outcome.missing.push_back(c10::str(kReturned[i].name, ": every rank ", *why));
    else
      kReturned[i].to(outcome) = collect(comm, layout.*kReturned[i].side, run.test.seq,
                                         own.*kReturned[i].from);
}

// What of the five tensors was not promised.
std::set<std::string> withheld(const Promise& promise) {
  std::set<std::string> names{"o", "lse", "dq", "dk", "dv"};
  for (const std::string& name : promise.shows) names.erase(name);
  return names;
}

// What is promised of this run.
Promise promise_for(const Run& run, const Subject& subject) {
  Promise promise = subject.promise(run.test);
  if (run.by_autograd)
    for (const char* rotated : {"q", "k"}) promise.shows.erase(rotated);
  return promise;
}

// What a rank wrote to of what it was given; of several ranks the first.
struct Changed {
  int rank = 0;
  int64_t inputs = 0;
};

Changed agreed(Communicator& comm, int64_t changed) {
  constexpr int64_t kInputs = 16;
  const int64_t first = comm.agree_max(changed == 0 ? 0 : (comm.size() - comm.rank()) * kInputs + changed);
  return {comm.size() - static_cast<int>(first / kInputs), first % kInputs};
}

void note_changed(const Changed& changed, Outcome& outcome) {
  if (changed.inputs != 0)
    outcome.missing.push_back(
        c10::str(Given::names(changed.inputs), ": rank ", changed.rank, " wrote into what it was given"));
}

WrongPads wrong_pads_of(const Run& run, int rank, const RankOutput& output) {
  const Layout layout = layout_of(run);
  return wrong_pads(run.test, layout.queries.at(rank), layout.keys.at(rank), output);
}

std::optional<Outcome> solve_within(const Run& run, Communicator& world, const Subject& subject) {
  const Case& test = run.test;
  const Promise promise = promise_for(run, subject);
  const RankInput input = input_of(run, world.rank());
  const std::shared_ptr<void> around =
      run.surroundings ? run.surroundings(world, test) : std::shared_ptr<void>();
  const Given given(input.local);
  RankOutput own = called(run, world, subject, input);
  const int64_t changed = given.changed(input.local);
  own.record.wrong_pads = wrong_pads_of(run, world.rank(), own);
  Outcome outcome;
  collect(world, run, promise, own, outcome);
  collect_further(world, test, own, outcome);
  note_changed(agreed(world, changed), outcome);
  outcome.ranks = collect(world, own.record);
  add_unwaited(world, own.record, outcome.ranks);
  if (run.timeline) add_timelines(world, own.record.timeline, outcome.ranks);
  outcome.withheld = withheld(promise);
  outcome.did_as_asked = world.agree_max(own.did_as_asked ? int64_t{0} : int64_t{1}) == 0;
  world.finish();
  if (world.rank() != 0) return std::nullopt;
  return outcome;
}

// The same of ranks that are all here.
void put_together(const Case& test, const Promise& promise, const std::vector<RankOutput>& ranks,
                  Outcome& outcome) {
  const Shards shards = layout_of(test).queries;
  for (const Returned& tensor : kReturned) {
    std::vector<int> lacking;
    std::vector<at::Tensor> pieces;
    std::string odd;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const at::Tensor& piece = ranks[rank].*tensor.from;
      if (!piece.defined()) {
        lacking.push_back(static_cast<int>(rank));
        continue;
      }
      pieces.push_back(piece);
      const auto why = misshapen(piece.sizes(), shards[rank]);
      if (odd.empty() && why)
        odd = c10::str(tensor.name, ": rank ", rank, " ", *why);
      else if (odd.empty() && description(piece) != description(pieces[0]))
        odd = c10::str(tensor.name, ": rank ", rank, " returned another dtype or shape than rank 0");
    }
    if (!lacking.empty()) note_missing(tensor.name, lacking, static_cast<int>(ranks.size()), promise, outcome);
    else if (!odd.empty()) outcome.missing.push_back(odd);
    else tensor.to(outcome) = unshard(pieces, 2, shards, test.seq);
  }
  put_together_further(test, ranks, outcome);
}

}  // namespace

bool same_values(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         ((a == b) | (a.isnan() & b.isnan())).all().item<bool>();
}

bool same_values(Outcome a, Outcome b) {
  return std::ranges::all_of(
      kReturned, [&](const Returned& tensor) { return same_values(tensor.to(a), tensor.to(b)); });
}

std::optional<Outcome> solve_on_ranks(const Run& run, Communicator& world,
                                      const Subject& subject) {
  return within_memory(run.test, world.rank(), world.device(), run.memory_model,
                       [&] { return solve_within(run, world, subject); });
}

std::optional<std::string> refuses(const Run& run, const Subject& subject) {
  const bool rank_by_rank = run.surroundings || run.meanwhile || run.by_autograd ||
                            run.layout || run.in_other_group || run.first_device != 0;
  if (rank_by_rank && dynamic_cast<const WholeSubject*>(&subject) != nullptr)
    return "the subject answers for all ranks at once, so nothing surrounds one of them";
  const int most = subject.most_ranks(run.test);
  if (most > 0 && ranks_of(run) > most)
    return c10::str("it takes ", ranks_of(run), " ranks, and there are ", most);
  return refuses(run.test, subject);
}

Outcome solve_whole(const Run& run, const WholeSubject& subject) {
  if (const auto reason = refuses(run, subject)) throw std::logic_error(*reason);
  const Promise promise = subject.promise(run.test);
  std::vector<RankInput> inputs;
  std::vector<Given> given;
  for (int rank = 0; rank < run.test.world; ++rank) given.emplace_back(inputs.emplace_back(input_of(run, rank)).local);
  std::vector<RankOutput> ranks;
  for (int call = 0; call < run.calls; ++call) ranks = subject.solve(run.test, inputs);
  if (static_cast<int>(ranks.size()) != run.test.world)
    throw std::runtime_error("the subject answered for " + std::to_string(ranks.size()) +
                             " ranks of " + std::to_string(run.test.world));
  Outcome outcome;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].record.wrong_pads = wrong_pads_of(run, static_cast<int>(rank), ranks[rank]);
    ranks[rank].record.grown_bytes = RankRecord::kUnseen;
    outcome.ranks.push_back(ranks[rank].record);
    note_changed({static_cast<int>(rank), given[rank].changed(inputs[rank].local)}, outcome);
  }
  put_together(run.test, promise, ranks, outcome);
  outcome.withheld = withheld(promise);
  return outcome;
}

}  // namespace ringcheck::parity
