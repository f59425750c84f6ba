// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
  bool in_pieces = false;       // as Message
};

// Where the pieces of a message lie: number [i][j] at i distance[0] + j distance[1] from its beginning, in bytes.
struct Pieces {
  std::array<int64_t, 2> count{1, 1}, distance{0, 0};
  int64_t bytes = 0;  // of each
};
Pieces pieces_of(const at::Tensor& data, bool in_pieces);  // of a contiguous tensor one

// All of them, in order.
template <class Visit>
void each_piece(const Half& half, const Visit& visit) {
  const Pieces pieces = pieces_of(half.data, half.in_pieces);
  auto* data = static_cast<uint8_t*>(half.data.mutable_data_ptr());
  for (int64_t i = 0; i < pieces.count[0]; ++i)
    for (int64_t j = 0; j < pieces.count[1]; ++j)
      visit(data + i * pieces.distance[0] + j * pieces.distance[1], pieces.bytes);
}

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
  std::function<bool()> over = nullptr;  // whether finish() would have nothing to wait for
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
