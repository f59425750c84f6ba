// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/communicator.h"

#include <string_view>

namespace ringcheck::parity {
namespace {

// The communicator that it stands for checks what is sent, and books it.
class Relay final : public Communicator {
 public:
  Relay(Communicator& comm, Transfer transfer)
      : Communicator(comm.group(), comm.shared_ledger(), comm.deadline()), comm_(comm),
        transfer_(std::move(transfer)) {}

  at::Tensor buffer(int64_t elements, at::ScalarType dtype, MemoryTag tag) override {
    return comm_.buffer(elements, dtype, tag);
  }
  void hand_over() override { comm_.hand_over(); }
  void finish() override { comm_.finish(); }
  std::unique_ptr<Communicator> over(Group group) override { return comm_.over(std::move(group)); }

 private:
  Pending carry(Request request) override {
    return transfer_(comm_, {std::move(request.sends), std::move(request.receives), request.label});
  }

  Communicator& comm_;
  Transfer transfer_;
};

}  // namespace

bool Posting::is(const char* name) const { return std::string_view(label.name) == name; }

std::unique_ptr<Communicator> with_transfer(Communicator& comm, Transfer transfer) {
  return std::make_unique<Relay>(comm, std::move(transfer));
}

Pending post(Communicator& comm, Posting posting) {
  return comm.transfer(std::move(posting.sends), std::move(posting.receives), posting.label);
}

}  // namespace ringcheck::parity
