// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// torch.distributed, counted: whatever backend a process group has, it is asked through operations
// c10d::* of the dispatcher. A kernel in front of those of the backends, at the one key that every
// call has, tells of each and passes it on. Not seen: a backend that is called itself.
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/library.h>

#include "cp/ledger/bypass.h"

namespace ringcheck {
namespace {

constexpr int kAny = -1;  // a message from any rank

// Tensor, Tensor[] or Tensor[][].
int64_t bytes(const c10::IValue& value) {
  if (value.isTensor()) return static_cast<int64_t>(value.toTensor().nbytes());
  int64_t sum = 0;
  for (const c10::IValue& one : value.toListRef()) sum += bytes(one);
  return sum;
}

// One call of an operation: its first arguments are tensors, results before inputs where it has
// both.
struct Operands {
  const c10::FunctionSchema& schema;
  at::ArrayRef<c10::IValue> values;

  const c10::IValue& at(const char* name) const {
    return values.at(schema.argumentIndexWithName(name).value());
  }
  int number(const char* name) const { return static_cast<int>(at(name).toInt()); }
  int64_t first() const { return bytes(values.at(0)); }
  int64_t second() const { return bytes(values.at(1)); }
};

// World ranks of the ranks of a process group, which torch.distributed notes for any but the default one; empty: not noted.
std::vector<uint64_t> noted_ranks(const c10d::ProcessGroup& group) try {
  return group.getDefaultBackend()->getBackendOptions()->global_ranks_in_group;
} catch (const std::exception&) {
  return {};  // a backend that has no options
}

// A call within a process group: peers are told by their rank in it.
class GroupCall {
 public:
  GroupCall(const BypassingCall& call, const c10d::ProcessGroup& group)
      : rank(group.getRank()), size(group.getSize()), call_(call), ranks_(noted_ranks(group)) {}

  const int rank, size;
  template <class Use>
  void each_other(const Use& use) const {
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank) use(peer);
  }
  void sends(int peer, int64_t bytes) const { call_.sends(world_rank(peer), bytes); }
  void receives(int peer, int64_t bytes) const { call_.receives(world_rank(peer), bytes); }

 private:
  int world_rank(int peer) const {
    if (peer == kAny) return kAny;
    return ranks_.empty() ? call_.world_rank(peer, size) : static_cast<int>(ranks_.at(peer));
  }

  const BypassingCall& call_;
  std::vector<uint64_t> ranks_;
};

using Tell = void (*)(const GroupCall& call, const Operands& x);

void everything_to_all(const GroupCall& call, const Operands& x) {
  call.each_other([&](int peer) {
    call.sends(peer, x.first());
    call.receives(peer, x.first());
  });
}

void gathered(const GroupCall& call, const Operands& x) {
  call.each_other([&](int peer) {
    call.sends(peer, x.second());
    call.receives(peer, x.first() / call.size);
  });
}

void reduced_and_scattered(const GroupCall& call, const Operands& x) {
  call.each_other([&](int peer) {
    call.sends(peer, x.second() / call.size);
    call.receives(peer, x.first());
  });
}

void from_root(const GroupCall& call, const Operands& x) {
  const int root = x.number("root_rank");
  if (call.rank != root) return call.receives(root, x.first());
  call.each_other([&](int peer) { call.sends(peer, x.first()); });
}

void to_root(const GroupCall& call, const Operands& x) {
  const int root = x.number("root_rank");
  if (call.rank != root) return call.sends(root, x.first());
  call.each_other([&](int peer) { call.receives(peer, x.first()); });
}

void gathered_at_root(const GroupCall& call, const Operands& x) {
  const int root = x.number("root_rank");
  if (call.rank != root) return call.sends(root, x.second());
  call.each_other([&](int peer) { call.receives(peer, x.first() / call.size); });
}

void scattered_by_root(const GroupCall& call, const Operands& x) {
  const int root = x.number("root_rank");
  if (call.rank != root) return call.receives(root, x.first());
  call.each_other([&](int peer) { call.sends(peer, x.second() / call.size); });
}

void list_to_each(const GroupCall& call, const Operands& x) {
  call.each_other([&](int peer) {
    call.sends(peer, bytes(x.at("input_tensors").toListRef().at(peer)));
    call.receives(peer, bytes(x.at("output_tensors").toListRef().at(peer)));
  });
}

// Of a tensor whose rows are split among the ranks: evenly where no sizes are given.
int64_t part(const at::Tensor& whole, const std::vector<int64_t>& rows, int rank, int size) {
  const auto all = static_cast<int64_t>(whole.nbytes());
  if (rows.empty()) return all / size;
  return whole.size(0) == 0 ? 0 : all / whole.size(0) * rows.at(rank);
}

void rows_to_each(const GroupCall& call, const Operands& x) {
  const auto out = x.at("output_split_sizes").toIntVector();
  const auto in = x.at("input_split_sizes").toIntVector();
  call.each_other([&](int peer) {
    call.sends(peer, part(x.at("input").toTensor(), in, peer, call.size));
    call.receives(peer, part(x.at("output").toTensor(), out, peer, call.size));
  });
}

void sent(const GroupCall& call, const Operands& x) {
  call.sends(x.number("dst"), x.first());
}
void received(const GroupCall& call, const Operands& x) {
  call.receives(x.number("src"), x.first());
}
void received_from_any(const GroupCall& call, const Operands& x) {
  call.receives(kAny, x.first());
}

struct Told {
  const char* name;  // of the operation, in the ledger
  Tell tell;
};
constexpr Told kTold[] = {
    {"c10d::send", sent},
    {"c10d::recv_", received},
    {"c10d::recv_any_source_", received_from_any},
    {"c10d::broadcast_", from_root},
    {"c10d::reduce_", to_root},
    {"c10d::gather_", gathered_at_root},
    {"c10d::scatter_", scattered_by_root},
    {"c10d::allreduce_", everything_to_all},
    {"c10d::allreduce_coalesced_", everything_to_all},
    {"c10d::allgather_", gathered},
    {"c10d::_allgather_base_", gathered},
    {"c10d::allgather_coalesced_", gathered},
    {"c10d::allgather_into_tensor_coalesced_", gathered},
    {"c10d::reduce_scatter_", reduced_and_scattered},
    {"c10d::_reduce_scatter_base_", reduced_and_scattered},
    {"c10d::reduce_scatter_tensor_coalesced_", reduced_and_scattered},
    {"c10d::alltoall_", list_to_each},
    {"c10d::alltoall_base_", rows_to_each}};

void tell_of(const BypassingCall& call, const Operands& x, Tell tell) {
  if (!call.counts()) return;
  const auto group = x.at("process_group").toCustomClass<c10d::ProcessGroup>();
  tell({call, *group}, x);
}

template <size_t kIndex>
void counted(const c10::OperatorHandle& operation, c10::DispatchKeySet keys,
             torch::jit::Stack* stack) {
  const BypassingCall call(kTold[kIndex].name);
  const c10::FunctionSchema& schema = operation.schema();
  tell_of(call, {schema, torch::jit::last(*stack, schema.arguments().size())}, kTold[kIndex].tell);
  operation.redispatchBoxed(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect),
      stack);
}

template <size_t... kIndex>
void stand_before(torch::Library& library, std::index_sequence<kIndex...>) {
  (library.impl(kTold[kIndex].name, torch::CppFunction::makeFromBoxedFunction<&counted<kIndex>>()),
   ...);
}

TORCH_LIBRARY_IMPL(c10d, BackendSelect, library) {
  stand_before(library, std::make_index_sequence<std::size(kTold)>());
}

}  // namespace
}  // namespace ringcheck
