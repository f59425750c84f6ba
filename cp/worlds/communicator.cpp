// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/communicator.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

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
  return transfer(std::move(sends), std::move(receives), label);
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
  return transfer(messages(sends), messages(receives), label);
}

at::Tensor Communicator::reduce_scatter(const std::vector<at::Tensor>& parts, Label label) {
  std::vector<at::Tensor> received;
  for (int rank = 0; rank < size(); ++rank) received.push_back(at::empty_like(parts.at(this->rank())));
  all_to_all(parts, received, label).wait();
  at::Tensor sum = received[0].clone();
  for (int rank = 1; rank < size(); ++rank) sum += received[rank];
  return sum;
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  const auto all = gather_values<int64_t>(*this, {color, key}, {"split"});
  std::vector<int> members;
  for (int rank = 0; rank < size(); ++rank)
    if (all[2 * rank] == color) members.push_back(rank);
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return all[2 * a + 1] < all[2 * b + 1]; });
  Group child;
  child.device = device();
  child.id = (group_.id * 31 + ++group_.splits) * 61 + color + 1;
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
