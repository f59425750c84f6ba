// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/transport.h"

#include <ATen/ATen.h>

#include <stdexcept>

#include "cp/ledger/bypass.h"

namespace ringcheck {

void Transport::hand_over() {
  if (device().is_cpu()) return finish();
  for (const std::shared_ptr<InFlight>& flight : outstanding_) flight->wait();
  std::erase_if(outstanding_, [](const auto& flight) { return !flight->finish || (flight->over && flight->over()); });
}

void Transport::finish() {
  while (!outstanding_.empty()) {
    const std::shared_ptr<InFlight> flight = outstanding_.front();
    flight->finish ? flight->finish() : flight->wait();
    std::erase(outstanding_, flight);
  }
}

Pending Transport::carry(Request request) {
  for (const Message& message : request.sends) admit(message, request.label, "to");
  for (const Message& message : request.receives) admit(message, request.label, "from");
  Posting posting{
      booked(std::move(request.sends), request.label, Transferred::Direction::kSent),
      booked(std::move(request.receives), request.label, Transferred::Direction::kReceived),
      request.label, request.pattern};
  std::vector<std::optional<size_t>> entries;
  for (const auto* halves : {&posting.sends, &posting.receives})
    for (const Half& half : *halves) entries.push_back(half.entry);
  const Booked booked_already;
  const auto flight = std::make_shared<InFlight>(post(std::move(posting)));
  outstanding_.push_back(flight);
  return Pending([this, flight, entries = std::move(entries)] {
    for (const std::optional<size_t>& entry : entries) ledger().waits_for(entry);
    flight->wait();
    if (!flight->finish) std::erase(outstanding_, flight);
  });
}

Timeout Transport::late(const std::string& what) const {
  return Timeout(what + " within " + std::to_string(deadline().count()) + " ms");
}

void Transport::admit(const Message& message, Label label, const char* way) const {
  const auto refuse = [&](const std::string& wrong, const std::string& fix) {
    throw std::invalid_argument(describe({label.name, label.step}) + ": the message " + way +
                                " rank " + std::to_string(message.peer) + " " + wrong + "; " + fix);
  };
  if (message.peer < 0 || message.peer >= size())
    refuse("has no such peer", "the group has ranks 0 to " + std::to_string(size() - 1));
  if (!message.data.defined())
    refuse("is an undefined tensor", "leave the message out, or give at::empty({0})");
  if (message.in_pieces && message.data.dim() < 2)
    refuse("has " + std::to_string(message.data.dim()) + " dimensions and cannot be in pieces", "give [n, m, ...] of n m pieces");
  if (!(message.in_pieces ? message.data.numel() == 0 || message.data[0][0].is_contiguous() : message.data.is_contiguous()))
    refuse("is not contiguous", "send or receive tensor.contiguous()");
  if (!message.data.is_cpu() && message.data.device() != device())
    refuse("is on " + message.data.device().str(),
           "move it to " + device().str() + ", where this rank computes, or to the cpu");
}

// A device is at work on a message only while it is copied: when, only its transport knows.
std::vector<Half> Transport::booked(std::vector<Message> messages, Label label,
                                    Transferred::Direction direction) {
  std::vector<Half> halves;
  for (Message& message : messages) {
    Half half{std::move(message.data), message.peer,
              {label.name, label.step, world_rank(message.peer)}, std::nullopt, message.in_pieces};
    const Instant begin = half.data.is_cpu() ? ledger().now() : Instant{Seconds::kUnknown, {}};
    if (half.peer != rank())
      half.entry = ledger().transferred(direction, half.operation,
                                        static_cast<int64_t>(half.data.nbytes()), begin);
    halves.push_back(std::move(half));
  }
  return halves;
}

Pieces pieces_of(const at::Tensor& data, bool in_pieces) {
  const auto all = static_cast<int64_t>(data.nbytes()), element = static_cast<int64_t>(data.element_size());
  if (!in_pieces || all == 0) return {.bytes = all};
  const int64_t n = data.size(0), m = data.size(1);
  return {{n, m}, {data.stride(0) * element, data.stride(1) * element}, all / (n * m)};
}

at::Tensor gathered_as_one(const Posting& posting) {
  if (posting.pattern != Pattern::kAllGather || posting.receives.empty()) return {};
  const at::Tensor &own = posting.sends.front().data, &first = posting.receives.front().data;
  const int64_t elements = own.numel();
  for (size_t rank = 0; rank < posting.receives.size(); ++rank) {
    const at::Tensor& part = posting.receives[rank].data;
    if (!part.is_alias_of(first) || part.scalar_type() != own.scalar_type() ||
        part.numel() != elements ||
        part.storage_offset() != first.storage_offset() + static_cast<int64_t>(rank) * elements)
      return {};
  }
  return first.as_strided({static_cast<int64_t>(posting.receives.size()) * elements}, {1});
}

}  // namespace ringcheck
