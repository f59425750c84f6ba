// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/outcome.h"

#include <ATen/ATen.h>

#include <bit>

#include "cp/shard.h"
#include "parity/out_of_memory.h"

namespace ringcheck::parity {
namespace {

// One tensor of all ranks, in sequence order on rank 0.
at::Tensor collect(Communicator& comm, const Layout& layout, int64_t length,
                   const at::Tensor& local) {
  if (!local.defined()) return {};
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
                               record.wrong_pads});
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
                         &record.wrong_pads})
    *field = *value++;
  for (auto* edges : {&record.sent_to, &record.received_from}) {
    edges->assign(value, value + world);
    value += world;
  }
  return record;
}

std::vector<RankRecord> collect(Communicator& comm, const RankRecord& own) {
  const at::Tensor local = at::tensor(flat(own), at::kLong);
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < comm.size(); ++rank) gathered.push_back(at::empty_like(local));
  comm.all_gather(local, gathered, {"collect"}).wait();
  std::vector<RankRecord> records;
  for (const at::Tensor& values : gathered)
    records.push_back(record_from(values.const_data_ptr<int64_t>(), comm.size()));
  return records;
}

std::optional<Outcome> solve_within(const Run& run, Communicator& world, const Subject& subject) {
  const Case& test = run.test;
  const Layout layout = layout_of(test);
  const RankInput input{run.problem(test, layout.at(world.rank())), layout[world.rank()]};
  const RankOutput own = subject(world, test, input);
  const auto whole = [&](const at::Tensor& local) { return collect(world, layout, test.seq, local); };
  Outcome outcome{{whole(own.o), whole(own.lse), whole(own.dq), whole(own.dk), whole(own.dv)},
                  whole(own.q_rotated),
                  whole(own.k_rotated),
                  collect(world, own.record)};
  world.finish();
  if (world.rank() != 0) return std::nullopt;
  return outcome;
}

}  // namespace

std::optional<Outcome> solve(const Run& run, Communicator& world, const Subject& subject) {
  return within_memory(run.test, world.rank(), world.device(),
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
