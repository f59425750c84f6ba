// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/communicator.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace ringcheck {
namespace {

template <class T>
std::vector<T> gather_values(Communicator& comm, const std::vector<T>& local, Label label) {
  const auto options = at::TensorOptions(c10::CppTypeToScalarType<T>::value);
  const int64_t n = static_cast<int64_t>(local.size());
  at::Tensor own = at::empty({n}, options);
  std::copy(local.begin(), local.end(), own.data_ptr<T>());
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < comm.size(); ++rank) gathered.push_back(at::empty({n}, options));
  comm.all_gather(own, gathered, label).wait();
  std::vector<T> all;
  for (const at::Tensor& part : gathered)
    all.insert(all.end(), part.data_ptr<T>(), part.data_ptr<T>() + n);
  return all;
}

template <class T>
T largest(Communicator& comm, T local) {
  const auto all = gather_values<T>(comm, {local}, {"agree"});
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

Group Group::everybody(int size, int rank) {
  Group group;
  group.rank = rank;
  group.world_ranks.resize(size);
  std::iota(group.world_ranks.begin(), group.world_ranks.end(), 0);
  return group;
}

Pending Communicator::exchange(const at::Tensor& send, int to, const at::Tensor& receive, int from,
                               Label label) {
  return transfer({{send, to}}, {{receive, from}}, label);
}

Pending Communicator::all_gather(const at::Tensor& local, const std::vector<at::Tensor>& gathered,
                                 Label label) {
  std::vector<Message> sends, receives;
  for (int rank = 0; rank < size(); ++rank) {
    sends.push_back({local, rank});
    receives.push_back({gathered.at(rank), rank});
  }
  return carry({std::move(sends), std::move(receives), label, Pattern::kAllGather});
}

Pending Communicator::all_to_all(const std::vector<at::Tensor>& sends,
                                 const std::vector<at::Tensor>& receives, Label label) {
  const auto messages = [](const std::vector<at::Tensor>& tensors) {
    std::vector<Message> list;
    for (size_t rank = 0; rank < tensors.size(); ++rank)
      if (tensors[rank].defined() && tensors[rank].numel() > 0)
        list.push_back({tensors[rank], static_cast<int>(rank)});
    return list;
  };
  return carry({messages(sends), messages(receives), label, Pattern::kAllToAll});
}

at::Tensor Communicator::reduce_scatter(const std::vector<at::Tensor>& parts, Label label) {
  std::vector<at::Tensor> received;
  for (int rank = 0; rank < size(); ++rank)
    received.push_back(at::empty_like(parts.at(this->rank())));
  all_to_all(parts, received, label).wait();
  at::Tensor sum = received[0].clone();
  for (int rank = 1; rank < size(); ++rank) sum += received[rank];
  return sum;
}

at::Tensor Communicator::buffer(int64_t elements, at::ScalarType dtype, MemoryTag tag) {
  return ringcheck::buffer(elements, dtype, device(), tag);
}

std::vector<at::Tensor> Communicator::buffers(int64_t elements, at::ScalarType dtype,
                                              MemoryTag tag) {
  const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(dtype));
  if (bytes > 0 && bytes % kBufferAlignment == 0)
    return buffer(size() * elements, dtype, tag).split(elements);
  std::vector<at::Tensor> apart;
  for (int rank = 0; rank < size(); ++rank) apart.push_back(buffer(elements, dtype, tag));
  return apart;
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  const auto all = gather_values<int64_t>(*this, {color, key, *group_.last_id}, {"split"});
  const auto color_of = [&](int rank) { return all[3 * rank]; };
  const auto key_of = [&](int rank) { return all[3 * rank + 1]; };
  std::set<int64_t> colors;
  int64_t last = 0;
  for (int rank = 0; rank < size(); ++rank) {
    colors.insert(color_of(rank));
    last = std::max(last, all[3 * rank + 2]);
  }
  // Beyond every id that any of these ranks has met, in the order of the colors.
  Group child;
  child.id = last + 1 + std::distance(colors.begin(), colors.find(color));
  child.last_id = group_.last_id;
  *child.last_id = last + static_cast<int64_t>(colors.size());
  child.device = device();
  std::vector<int> members;
  for (int rank = 0; rank < size(); ++rank)
    if (color_of(rank) == color) members.push_back(rank);
  std::ranges::stable_sort(members, {}, key_of);
  for (const int member : members) {
    if (member == rank()) child.rank = static_cast<int>(child.world_ranks.size());
    child.world_ranks.push_back(world_rank(member));
  }
  std::unique_ptr<Communicator> part = over(std::move(child));
  part->delay_with(delay_);
  return part;
}

int64_t Communicator::agree_max(int64_t local) { return largest(*this, local); }
double Communicator::agree_max(double local) { return largest(*this, local); }

}  // namespace ringcheck
