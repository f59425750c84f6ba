// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/graphed.h"

#include <stdexcept>

namespace ringcheck {
namespace {

// Nothing of what is kept happens now: it has no time, and was counted when it was tried.
class Unrecorded {
 public:
  explicit Unrecorded(Ledger& ledger) : ledger_(ledger), before_(ledger.record(false)) {}
  ~Unrecorded() { ledger_.record(before_); }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  Ledger& ledger_;
  bool before_;
};

const std::function<std::unique_ptr<DeviceGraph>(const std::function<void()>&)>* graphs_of(at::Device device) {
  const auto found = DeviceGraphs::all().find(c10::DeviceTypeName(device.type(), true));
  return found == DeviceGraphs::all().end() ? nullptr : &found->second;
}

}  // namespace

std::optional<std::string> Graphed::refuses(const Communicator& comm, const Rope& rope) {
  if (graphs_of(comm.device()) == nullptr)
    return "a pass is kept as a graph of a GPU, and this one is computed on " + comm.device().str() + "; use device cuda";
  if (!comm.capturable())
    return "the ranks of this world meet on their hosts while a pass is queued, so that no graph can hold it; use "
           "processes, or one rank";
  if (rope.pairing != Rope::Pairing::kNone)
    return "the angles of a rotary embedding are made on the host in every pass, which no graph does; rotate q and k before";
  return std::nullopt;
}

Graphed::Graphed(ContextParallel& attention, const at::Tensor& q, const at::Tensor& k,
                 const at::Tensor& v, const at::Tensor& d_o) {
  Communicator& comm = attention.communicator();
  if (const auto reason = refuses(comm, attention.options().rope)) throw std::invalid_argument(*reason);
  const Unrecorded unrecorded(comm.ledger());
  {
    auto context = attention.forward(q, k, v);
    attention.backward(context, d_o);
  }
  comm.agree_max(int64_t{0});  // nobody keeps a message while another one still makes one
  const auto& kept = *graphs_of(comm.device());
  forward_ = kept([&] { context_ = attention.forward(q, k, v); });
  backward_ = kept([&] { gradients_ = attention.queue_backward(*context_, d_o); });
}

}  // namespace ringcheck
