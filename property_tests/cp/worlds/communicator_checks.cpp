// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cp/worlds/communicator_checks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "property_tests/parity/case/generators.h"

namespace ringcheck::checks {
namespace {

using Direction = Transferred::Direction;

// What rank `from` has for rank `to` (world ranks), the n-th time, where the communicator computes.
at::Tensor payload(const Communicator& comm, int from, int to, int64_t elements, int n = 0,
                   at::ScalarType dtype = at::kFloat) {
  return normal({elements}, 1 + from + 100 * to + 10000 * n, dtype).to(comm.device());
}

at::Tensor room(const Communicator& comm, int64_t elements, at::ScalarType dtype = at::kFloat) {
  return at::empty({elements}, at::TensorOptions(dtype).device(comm.device()));
}

// How much rank `from` has for rank `to`: nothing in one case of three.
// Nothing, a few, or more than an MPI sends at once.
int64_t amount(uint64_t seed, int from, int to) {
  const uint64_t mixed = (seed + 31 * from + 1009 * to) * 0x9E3779B97F4A7C15u >> 40;
  return mixed % 3 == 0 ? 0 : static_cast<int64_t>(mixed % 17 + (mixed % 5 == 0 ? 20000 : 0));
}

struct AllToAll {
  std::vector<at::Tensor> sends, receives;
};

AllToAll buffers(Communicator& comm, uint64_t seed) {
  AllToAll all;
  const int here = comm.world_rank(comm.rank());
  for (int r = 0; r < comm.size(); ++r) {
    const int there = comm.world_rank(r);
    const int64_t out = amount(seed, here, there), in = amount(seed, there, here);
    all.sends.push_back(out == 0 && r % 2 == 0 ? at::Tensor() : payload(comm, here, there, out));
    all.receives.push_back(in == 0 && r % 2 == 1 ? at::Tensor() : room(comm, in));
  }
  return all;
}

std::string mismatch(const std::string& what, const at::Tensor& actual,
                     const at::Tensor& expected) {
  const std::string where = difference(actual, expected);
  return where.empty() ? "" : what + " " + where;
}

}  // namespace

std::string exchange_delivers(Communicator& comm, int shift, int64_t elements,
                              at::ScalarType dtype) {
  const int to = (comm.rank() + shift) % comm.size();
  const int from = (comm.rank() + comm.size() - shift % comm.size()) % comm.size();
  const at::Tensor send = payload(comm, comm.rank(), to, elements, shift, dtype), before = send.clone();
  const at::Tensor receive = room(comm, elements, dtype);
  comm.exchange(send, to, receive, from, {"test"}).wait();
  const auto expected = payload(comm, from, comm.rank(), elements, shift, dtype);
  return mismatch("received", receive, expected) + mismatch("sent", send, before);
}

std::string messages_match_in_posting_order(Communicator& comm, int messages) {
  std::vector<at::Tensor> received;
  std::vector<Pending> pending;
  for (int n = 0; n < messages; ++n) {
    received.push_back(room(comm, 5));
    pending.push_back(comm.exchange(payload(comm, comm.rank(), comm.right(), 5, n), comm.right(),
                                    received.back(), comm.left(), {"test", n}));
  }
  for (Pending& transfer : pending)
    transfer.wait();
  for (Pending& transfer : pending)
    transfer.wait();  // a second wait is nothing
  std::string wrong;
  for (int n = 0; n < messages; ++n)
    wrong += mismatch("message " + std::to_string(n), received[n],
                      payload(comm, comm.left(), comm.rank(), 5, n));
  return wrong;
}

std::string messages_of_one_transfer_match_in_order(Communicator& comm) {
  const auto part = [&](int from, int to, int n) { return payload(comm, from, to, 3 + n, n); };
  std::vector<Message> sends, receives;
  for (int n = 0; n < 3; ++n) {
    sends.push_back({part(comm.rank(), comm.right(), n), comm.right()});
    receives.push_back({room(comm, 3 + n), comm.left()});
  }
  comm.transfer(sends, receives, {"test"}).wait();
  std::string wrong;
  for (int n = 0; n < 3; ++n)
    wrong +=
        mismatch("part " + std::to_string(n), receives[n].data, part(comm.left(), comm.rank(), n));
  return wrong;
}

// [4, 2, 3] in either of two ways: sent from the second and fourth row of each of four, received into every second
// one of four, what lies between untouched; and [4, 1, 6], whose pieces lie side by side at one end.
std::string pieces_arrive_in_their_places(Communicator& comm) {
  const auto four = [&](int of) { return payload(comm, of, 0, 4 * 4 * 3).view({4, 4, 3}); };
  const at::Tensor own = four(comm.rank()), into = room(comm, 4 * 4 * 3).fill_(-7).view({4, 4, 3});
  const at::Tensor sides = room(comm, 4 * 6).view({4, 1, 6});
  const auto seconds = [](const at::Tensor& x) { return x.slice(1, 1, 4, 2); };
  const auto firsts = [](const at::Tensor& x) { return x.slice(1, 0, 4, 2); };
  const auto last = [](const at::Tensor& x) { return x.flatten(1).narrow(1, 6, 6).unsqueeze(1); };
  comm.transfer({{seconds(own), comm.right(), true}, {last(own), comm.right(), true}},
                {{firsts(into), comm.left(), true}, {sides, comm.left(), true}}, {"test"}).wait();
  const at::Tensor sent = four(comm.left());
  return mismatch("pieces", firsts(into), seconds(sent)) + mismatch("pieces side by side", sides, last(sent)) +
         mismatch("between the pieces", seconds(into), at::full_like(seconds(into), -7)) +
         mismatch("sent", own, four(comm.rank()));
}

std::string messages_to_oneself_match_in_order(Communicator& comm) {
  std::vector<Message> sends, receives;
  for (int n = 0; n < 3; ++n) {
    sends.push_back({payload(comm, comm.rank(), comm.rank(), 4, n), comm.rank()});
    receives.push_back({room(comm, 4), comm.rank()});
  }
  comm.transfer(sends, receives, {"test"}).wait();
  std::string wrong;
  for (int n = 0; n < 3; ++n) wrong += mismatch("part " + std::to_string(n), receives[n].data, sends[n].data);
  return wrong;
}

std::string all_gather_collects(Communicator& comm, int64_t elements) {
  const at::Tensor buffer = room(comm, 2 * comm.size() * elements);
  std::string wrong;
  for (const bool apart : {true, false}) {  // or slices of one buffer, the last rank's first and with gaps
    std::vector<at::Tensor> gathered;
    for (int r = 0; r < comm.size(); ++r)
      gathered.push_back(apart ? room(comm, elements) : buffer.narrow(0, 2 * (comm.size() - 1 - r) * elements, elements));
    comm.all_gather(payload(comm, comm.rank(), 0, elements), gathered, {"test"}).wait();
    for (int r = 0; r < comm.size(); ++r) wrong += mismatch("of rank " + std::to_string(r), gathered[r], payload(comm, r, 0, elements));
  }
  return wrong;
}

std::string all_gather_fills_one_buffer(Communicator& comm, int64_t elements) {
  const auto gathered = comm.buffers(elements, at::kFloat, MemoryTag::kOther);
  const at::Tensor own = payload(comm, comm.rank(), 0, elements);
  Ledger& ledger = comm.ledger();
  const size_t before = ledger.transfers().size();
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    comm.all_gather(own, gathered, {"gathered", 2}).wait();
  }
  comm.finish();
  std::string wrong;
  std::map<std::pair<Direction, int>, int64_t> expected, found;
  for (int r = 0; r < comm.size(); ++r) {
    wrong += mismatch("of rank " + std::to_string(r), gathered[r], payload(comm, r, 0, elements));
    if (r == comm.rank()) continue;
    for (const Direction direction : {Direction::kSent, Direction::kReceived})
      expected[{direction, comm.world_rank(r)}] = static_cast<int64_t>(own.nbytes());
  }
  for (size_t i = before; i < ledger.transfers().size(); ++i) {
    const Transferred& event = ledger.transfers()[i];
    found[{event.direction, event.operation.peer}] += event.bytes;
    if (event.operation.step != 2) wrong += "another label; ";
  }
  return found == expected ? wrong : wrong + "other bytes or peers than its messages";
}

std::string all_to_all_delivers(Communicator& comm, uint64_t seed) {
  const AllToAll all = buffers(comm, seed);
  comm.all_to_all(all.sends, all.receives, {"test"}).wait();
  std::string wrong;
  for (int r = 0; r < comm.size(); ++r)
    if (all.receives[r].defined() && all.receives[r].numel() > 0)
      wrong += mismatch(
          "from rank " + std::to_string(r), all.receives[r],
          payload(comm, comm.world_rank(r), comm.world_rank(comm.rank()), all.receives[r].numel()));
  return wrong;
}

std::string reduce_scatter_adds_in_rank_order(Communicator& comm, uint64_t seed) {
  // Magnitudes so different that another order of additions gives other bits.
  const auto part = [&](int from, int to) {
    const at::Tensor data = normal({40 + to}, seed + from + 100 * to).to(comm.device());
    return data * std::pow(10.0F, static_cast<float>(from % 3));
  };
  std::vector<at::Tensor> parts;
  for (int to = 0; to < comm.size(); ++to)
    parts.push_back(part(comm.rank(), to));
  const at::Tensor sum = comm.reduce_scatter(parts, {"test"});
  at::Tensor expected = part(0, comm.rank());
  for (int from = 1; from < comm.size(); ++from)
    expected = expected + part(from, comm.rank());
  return mismatch("sum", sum, expected) +
         mismatch("own part", parts[comm.rank()], part(comm.rank(), comm.rank()));
}

std::string agreement_is_the_maximum(Communicator& comm, uint64_t seed) {
  const auto value = [&](int rank) {
    return static_cast<int64_t>(seed * 7919 * (rank + 1) % 1000) - 2000;
  };
  int64_t expected = value(0);
  for (int r = 1; r < comm.size(); ++r)
    expected = std::max(expected, value(r));
  const int64_t integer = comm.agree_max(value(comm.rank()));
  const double real = comm.agree_max(0.5 * static_cast<double>(value(comm.rank())));
  if (integer == expected && real == 0.5 * static_cast<double>(expected))
    return "";
  return "agreed on " + std::to_string(integer) + " and " + std::to_string(real) + ", not " +
         std::to_string(expected);
}

std::string buffers_are_free_after_wait(Communicator& comm) {
  const at::Tensor send = payload(comm, comm.rank(), comm.right(), 9), receive = room(comm, 9);
  comm.exchange(send, comm.right(), receive, comm.left(), {"test", 0}).wait();
  const at::Tensor expected = payload(comm, comm.left(), comm.rank(), 9);
  send.fill_(-1);
  std::string wrong = mismatch("after the first", receive, expected);
  // The buffer that was sent receives, and the one that received is sent.
  comm.exchange(receive, comm.left(), send, comm.right(), {"test", 1}).wait();
  return wrong + mismatch("after the second", send, payload(comm, comm.rank(), comm.right(), 9)) +
         mismatch("sent back", receive, expected);
}

std::string a_dropped_transfer_completes(Communicator& comm) {
  const at::Tensor receive = room(comm, 3);
  std::ignore = comm.exchange(payload(comm, comm.rank(), comm.right(), 3), comm.right(), receive, comm.left(), {"dropped"});
  comm.finish();
  return exchange_delivers(comm, 1, 4, at::kFloat);
}

std::string ledger_counts_messages(Communicator& comm, uint64_t seed) {
  const AllToAll all = buffers(comm, seed);
  Ledger& ledger = comm.ledger();
  const size_t before = ledger.transfers().size();
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    comm.all_to_all(all.sends, all.receives, {"counted", 3}).wait();
  }
  comm.all_to_all(all.sends, all.receives, {"outside"}).wait();
  comm.agree_max(int64_t{1});
  comm.finish();
  ledger.settle();
  std::map<std::pair<Direction, int>, int64_t> expected, found;
  const auto note = [&](Direction direction, const std::vector<at::Tensor>& tensors) {
    for (int r = 0; r < comm.size(); ++r)
      if (r != comm.rank() && tensors[r].defined() && tensors[r].numel() > 0)
        expected[{direction, comm.world_rank(r)}] = static_cast<int64_t>(tensors[r].nbytes());
  };
  note(Direction::kSent, all.sends);
  note(Direction::kReceived, all.receives);
  std::string wrong;
  for (size_t i = before; i < ledger.transfers().size(); ++i) {
    const Transferred& event = ledger.transfers()[i];
    if (!found.emplace(std::pair{event.direction, event.operation.peer}, event.bytes).second)
      wrong += "counted twice; ";
    if (event.phase != Phase::kForward || std::string(event.operation.name) != "counted" ||
        event.operation.step != 3)
      wrong += "another phase or label; ";
    if (!(event.end >= event.begin && event.begin > 0))
      wrong += "not seen complete; ";
  }
  return found == expected ? wrong : wrong + "other bytes or peers than were sent";
}

std::string split_orders_by_key(Communicator& comm, const std::vector<int>& colors,
                                const std::vector<int>& keys) {
  std::vector<int> members;
  for (int r = 0; r < comm.size(); ++r)
    if (colors[r] == colors[comm.rank()])
      members.push_back(r);
  std::ranges::stable_sort(members, {}, [&](int r) { return keys[r]; });
  const auto group = comm.split(colors[comm.rank()], keys[comm.rank()]);
  if (group->size() != static_cast<int>(members.size()))
    return "another size";
  for (int r = 0; r < group->size(); ++r)
    if (group->world_rank(r) != comm.world_rank(members[r]))
      return "another order";
  if (group->world_rank(group->rank()) != comm.world_rank(comm.rank()))
    return "another rank";
  // Messages of the group and of its parent cross without being mistaken for each other.
  const at::Tensor outer = room(comm, 4), inner = room(comm, 4);
  const int here = comm.world_rank(comm.rank());
  Pending parent =
      comm.exchange(payload(comm, here, 0, 4, 1), comm.right(), outer, comm.left(), {"outer"});
  Pending child =
      group->exchange(payload(comm, here, 0, 4, 2), group->right(), inner, group->left(), {"inner"});
  child.wait();
  parent.wait();
  return mismatch("outer", outer, payload(comm, comm.world_rank(comm.left()), 0, 4, 1)) +
         mismatch("inner", inner, payload(comm, group->world_rank(group->left()), 0, 4, 2)) +
         all_gather_collects(*group, 3) + ledger_counts_messages(*group, 5) +
         agreement_is_the_maximum(*group, 11);
}

}  // namespace ringcheck::checks
