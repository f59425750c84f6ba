// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/plugin/lent.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

// A view of what C lends; nothing is freed with it.
at::Tensor borrowed(const DLTensor* x) {
  if (x == nullptr) return {};
  auto* managed = new DLManagedTensor{
      *x, nullptr, [](DLManagedTensor* own) { delete own; }};
  return at::fromDLPack(managed);
}

std::vector<at::Tensor> borrowed(const DLTensor* const* list, int count) {
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back(borrowed(list[i]));
  return tensors;
}

}  // namespace

LentCase::LentCase(const Case& test, std::string arguments, int ranks)
    : text_(to_text(test)), arguments_(std::move(arguments)), dtype_(dtype_text(test.dtype)),
      mask_(mask_text(test.mask)), rope_(rope_text(test.rope)),
      balance_(part("balance").print(test)), lengths_(test.lengths) {
  c_ = {.size = sizeof c_,
        .text = text_.c_str(),
        .arguments = arguments_.c_str(),
        .batch = test.batch,
        .q_heads = test.q_heads,
        .kv_heads = test.kv_heads,
        .seq = test.seq,
        .dim = test.dim,
        .dim_v = test.dim_v,
        .dtype = dtype_.c_str(),
        .mask = mask_.c_str(),
        .rope = rope_.c_str(),
        .balance = balance_.c_str(),
        .scale = scale_of(test),
        .ranks = ranks,
        .world = test.world_kind.c_str(),
        .device = test.device.c_str(),
        .lengths = lengths_.empty() ? nullptr : lengths_.data()};
}

LentTensor::LentTensor(const at::Tensor& x) : x_(x) { at::toDLPackNonOwning(x_, &c_); }

LentInput::LentInput(const RankInput& input)
    : q_(input.local.q.cpu()), k_(input.local.k.cpu()), v_(input.local.v.cpu()),
      d_o_(input.local.d_o.cpu()),
      queries_(flatten(input.positions)), keys_(queries_) {
  c_ = {.size = sizeof c_,
        .q = &q_,
        .k = &k_,
        .v = &v_,
        .d_o = &d_o_,
        .query_positions = queries_.data(),
        .key_positions = keys_.data(),
        .query_slots = static_cast<int64_t>(queries_.size()),
        .key_slots = static_cast<int64_t>(keys_.size())};
}

LentRanks::LentRanks(Communicator& comm)
    : comm_(comm), world_ranks_(comm.group().world_ranks.begin(), comm.group().world_ranks.end()) {
  c_ = {.size = sizeof c_,
        .rank = comm.rank(),
        .ranks = comm.size(),
        .world_ranks = world_ranks_.data(),
        .self = this,
        .exchange = exchange,
        .all_gather = all_gather,
        .all_to_all = all_to_all,
        .zeros = zeros};
}

template <class Work>
int32_t LentRanks::kept(const ringcheck_ranks* ranks, const Work& work) {
  auto& self = *static_cast<LentRanks*>(ranks->self);
  try {
    work(self.comm_);
    return 0;
  } catch (...) {
    self.failure_ = std::current_exception();
    return 1;
  }
}

int32_t LentRanks::exchange(const ringcheck_ranks* ranks, const DLTensor* send, int32_t to,
                            const DLTensor* receive, int32_t from) {
  return kept(ranks, [&](Communicator& comm) {
    comm.exchange(borrowed(send), to, borrowed(receive), from, {"exchange"}).wait();
  });
}

int32_t LentRanks::all_gather(const ringcheck_ranks* ranks, const DLTensor* local,
                              const DLTensor* const* gathered) {
  return kept(ranks, [&](Communicator& comm) {
    comm.all_gather(borrowed(local), borrowed(gathered, comm.size()), {"all-gather"}).wait();
  });
}

int32_t LentRanks::all_to_all(const ringcheck_ranks* ranks, const DLTensor* const* sends,
                              const DLTensor* const* receives) {
  return kept(ranks, [&](Communicator& comm) {
    comm.all_to_all(borrowed(sends, comm.size()), borrowed(receives, comm.size()), {"all-to-all"})
        .wait();
  });
}

DLManagedTensor* LentRanks::zeros(const ringcheck_ranks* ranks, DLDataType dtype, int32_t dims,
                                  const int64_t* sizes) {
  DLManagedTensor* made = nullptr;
  kept(ranks, [&](Communicator& comm) {
    const auto options = at::TensorOptions(at::toScalarType(dtype)).device(comm.device());
    made = at::toDLPack(at::zeros(at::IntArrayRef(sizes, static_cast<size_t>(dims)), options));
  });
  return made;
}

RankOutput taken(const ringcheck_output& output) {
  const auto ours = [](DLManagedTensor* managed) {
    return managed == nullptr ? at::Tensor() : at::fromDLPack(managed);
  };
  return {.o = ours(output.o),
          .lse = ours(output.lse),
          .dq = ours(output.dq),
          .dk = ours(output.dk),
          .dv = ours(output.dv),
          .q_rotated = ours(output.q_rotated),
          .k_rotated = ours(output.k_rotated),
          .record = {}};
}

}  // namespace ringcheck::parity
