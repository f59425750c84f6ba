// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cp/error.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// One message on its way: to or from a rank of the group.
struct Half {
  at::Tensor data;
  int peer = 0;                 // in the group; the operation names its world rank
  Operation operation;
  std::optional<size_t> entry;  // its line in the ledger; none for a message to oneself
};

// What a transport is asked to carry: checked, and in the ledger. It completes the lines.
struct Posting {
  std::vector<Half> sends, receives;
  Label label;
  Pattern pattern = Pattern::kMessages;
};

// How a posted transfer ends. `wait` is Pending's; `finish`, where the host knows more about the
// end than what the wait has seen, is called by Communicator::finish().
struct InFlight {
  std::function<void()> wait;
  std::function<void()> finish = nullptr;
};

// A communicator that carries messages itself. What all of them must do with a transfer stands
// here, once.
class Transport : public Communicator {
 public:
  void hand_over() override;
  void finish() override;

 protected:
  using Communicator::Communicator;

  Pending carry(Request request) override;
  // Puts the messages on their way. Those of a pair of ranks match in the order of their posting.
  virtual InFlight post(Posting posting) = 0;

  // What to throw at the deadline; `what` did not happen: "nothing arrived".
  Timeout late(const std::string& what) const;

 private:
  void admit(const Message& message, Label label, const char* way) const;
  std::vector<Half> booked(std::vector<Message> messages, Label label,
                           Transferred::Direction direction);

  std::vector<std::shared_ptr<InFlight>> outstanding_;
};

// The buffer that the messages of an all-gather fill, in rank order and nothing between them;
// undefined where there is none. It takes slices of one allocation, so that every rank decides
// alike: separate ones may lie side by side on some rank by chance.
at::Tensor gathered_as_one(const Posting& posting);

}  // namespace ringcheck
