// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/outcome.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <bit>

#include "cp/layout/shard.h"
#include "parity/subject/calls.h"

namespace ringcheck::parity {
namespace {

bool same(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         ((a == b) | (a.isnan() & b.isnan())).all().item<bool>();
}

// One tensor of all ranks, in sequence order on rank 0.
at::Tensor collect(Communicator& comm, const std::vector<Positions>& layout, int64_t length,
                   const at::Tensor& local) {
  const at::Tensor own = local.contiguous();
  std::vector<at::Tensor> sends(comm.size()), receives(comm.size());
  sends[0] = own;
  if (comm.rank() == 0)
    for (at::Tensor& receive : receives) receive = at::empty_like(own);
  comm.all_to_all(sends, receives, {"collect"}).wait();
  return comm.rank() == 0 ? unshard(receives, 2, layout, length) : at::Tensor();
}

std::vector<int64_t> flat(const RankRecord& record) {
  std::vector<int64_t> values;
  for (const Counters& c : {record.forward, record.backward})
    values.insert(values.end(), {c.bytes_sent, c.bytes_received, c.messages, c.pairs, c.flops,
                                 c.steps, c.merges});
  for (const Seconds& s : {record.forward_seconds, record.backward_seconds})
    for (const double part : {s.attention, s.communication, s.exposed, s.overlapped})
      values.push_back(std::bit_cast<int64_t>(part));
  values.insert(values.end(), {record.peak_bytes, record.kv_bytes, record.traveller_bytes,
                               record.wrong_pads, record.grown_bytes});
  for (const auto& edges : {record.sent_to, record.received_from})
    values.insert(values.end(), edges.begin(), edges.end());
  return values;
}

RankRecord record_from(const int64_t* value, int world) {
  RankRecord record;
  for (Counters* c : {&record.forward, &record.backward})
    for (int64_t* field : {&c->bytes_sent, &c->bytes_received, &c->messages, &c->pairs, &c->flops,
                           &c->steps, &c->merges})
      *field = *value++;
  for (Seconds* s : {&record.forward_seconds, &record.backward_seconds})
    for (double* part : {&s->attention, &s->communication, &s->exposed, &s->overlapped})
      *part = std::bit_cast<double>(*value++);
  for (int64_t* field : {&record.peak_bytes, &record.kv_bytes, &record.traveller_bytes,
                         &record.wrong_pads, &record.grown_bytes})
    *field = *value++;
  for (auto* edges : {&record.sent_to, &record.received_from}) {
    edges->assign(value, value + world);
    value += world;
  }
  return record;
}

std::vector<at::Tensor> gather(Communicator& comm, const at::Tensor& local) {
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < comm.size(); ++rank) gathered.push_back(at::empty_like(local));
  comm.all_gather(local, gathered, {"collect"}).wait();
  return gathered;
}

// A subject need not count its bytes by peer.
std::vector<RankRecord> collect(Communicator& comm, RankRecord own) {
  for (auto* edges : {&own.sent_to, &own.received_from}) edges->resize(comm.size());
  std::vector<RankRecord> records;
  for (const at::Tensor& values : gather(comm, at::tensor(flat(own), at::kLong)))
    records.push_back(record_from(values.const_data_ptr<int64_t>(), comm.size()));
  return records;
}

struct Returned {
  const char* name;
  at::Tensor RankOutput::*from;
  at::Tensor& (*to)(Outcome&);
};
constexpr Returned kReturned[] = {
    {"o", &RankOutput::o, [](Outcome& x) -> at::Tensor& { return x.tensors.o; }},
    {"lse", &RankOutput::lse, [](Outcome& x) -> at::Tensor& { return x.tensors.lse; }},
    {"dq", &RankOutput::dq, [](Outcome& x) -> at::Tensor& { return x.tensors.dq; }},
    {"dk", &RankOutput::dk, [](Outcome& x) -> at::Tensor& { return x.tensors.dk; }},
    {"dv", &RankOutput::dv, [](Outcome& x) -> at::Tensor& { return x.tensors.dv; }},
    {"q", &RankOutput::q_rotated, [](Outcome& x) -> at::Tensor& { return x.q_rotated; }},
    {"k", &RankOutput::k_rotated, [](Outcome& x) -> at::Tensor& { return x.k_rotated; }}};

// Of each tensor the ranks that did not return it, on every rank.
std::vector<std::vector<int>> without(Communicator& comm, const RankOutput& own) {
  std::vector<int64_t> returned;
  for (const Returned& tensor : kReturned) returned.push_back((own.*tensor.from).defined());
  std::vector<std::vector<int>> lacking(returned.size());
  const std::vector<at::Tensor> gathered = gather(comm, at::tensor(returned, at::kLong));
  for (int rank = 0; rank < comm.size(); ++rank)
    for (size_t i = 0; i < lacking.size(); ++i)
      if (gathered[rank].const_data_ptr<int64_t>()[i] == 0) lacking[i].push_back(rank);
  return lacking;
}

// A tensor that some rank lacks is nobody's. The rotated q and k are not missed, nor is what the
// subject says that it cannot show; O is always.
void collect(Communicator& comm, const Case& test, const RankOutput& own, Outcome& outcome) {
  const std::vector<Positions> layout = layout_of(test).queries;
  const std::vector<std::vector<int>> lacking = without(comm, own);
  for (size_t i = 0; i < lacking.size(); ++i) {
    const std::string name = kReturned[i].name;
    if (lacking[i].empty())
      kReturned[i].to(outcome) = collect(comm, layout, test.seq, own.*kReturned[i].from);
    else if (name != "q" && name != "k" && (name == "o" || !own.withheld.contains(name)))
      outcome.missing.push_back(
          static_cast<int>(lacking[i].size()) == comm.size()
              ? name + ": not returned"
              : c10::str(name, ": not returned by rank ", lacking[i].front()));
  }
}

std::optional<Outcome> solve_within(const Run& run, Communicator& world, const Subject& subject) {
  const Case& test = run.test;
  const Positions own_positions = layout_of(test).queries.at(world.rank());
  RankInput input{run.problem(test, own_positions), own_positions};
  if (run.meanwhile) input.meanwhile = run.meanwhile(test, own_positions);
  const std::shared_ptr<void> around =
      run.surroundings ? run.surroundings(world, test) : std::shared_ptr<void>();
  const RankOutput own = called(run, world, subject, input);
  Outcome outcome;
  collect(world, test, own, outcome);
  outcome.ranks = collect(world, own.record);
  outcome.withheld = own.withheld;
  outcome.solved_meanwhile = own.solved_meanwhile;
  world.finish();
  if (world.rank() != 0) return std::nullopt;
  return outcome;
}

}  // namespace

bool same_values(Outcome a, Outcome b) {
  return std::ranges::all_of(
      kReturned, [&](const Returned& tensor) { return same(tensor.to(a), tensor.to(b)); });
}

std::optional<Outcome> solve(const Run& run, Communicator& world, const Subject& subject) {
  return within_memory(run.test, world.rank(), world.device(), run.memory_model,
                       [&] { return solve_within(run, world, subject); });
}

Outcome solve(const Run& run, const ThreadWorld& world, const Subject& subject) {
  std::optional<Outcome> outcome;
  ringcheck::run(world, [&](Communicator& comm) {
    if (auto result = solve(run, comm, subject)) outcome = std::move(result);
  });
  return std::move(*outcome);
}

}  // namespace ringcheck::parity
