// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cp/ledger/ledger.h"

// Messages that go round the communicators. What stands in the way of a library (MPI's and NCCL's
// profiling interfaces, the dispatcher's c10d operations) tells of its calls here, and the ledger
// of the rank that made them gets its lines.
namespace ringcheck {

// For as long as it lives the ledger, which must outlive it, gets what this thread sends round the
// communicators, and what threads send that are no rank's, where no other rank of the process is
// witnessed. One a thread. The world ranks are those of all ranks that answer together.
class Witnessed {
 public:
  Witnessed(Ledger& ledger, std::vector<int> world_ranks);
  ~Witnessed();
  Witnessed(const Witnessed&) = delete;
  Witnessed& operator=(const Witnessed&) = delete;
};

// What this thread calls while one lives is booked elsewhere: by a communicator, or as a part of an
// outer call.
class Booked {
 public:
  Booked();
  ~Booked();
  Booked(const Booked&) = delete;
  Booked& operator=(const Booked&) = delete;
};

// One call of a library that carries messages. A collective is the messages that would carry what
// each rank has, and another one needs, directly.
class BypassingCall {
 public:
  explicit BypassingCall(const char* name);
  // False within another call, and where nobody is witnessed: nothing need be told.
  bool counts() const { return counts_; }
  // The world rank of a rank in a group of so many, of which nothing else is known: -1 where these are not all that answer.
  static int world_rank(int rank, int group_size);
  // To and from a peer by its world rank, -1 where that is not known. No bytes are no message.
  void sends(int peer, int64_t bytes) const;
  void receives(int peer, int64_t bytes) const;

 private:
  void tell(Transferred::Direction direction, int peer, int64_t bytes) const;
  const char* name_;
  bool counts_;
  Booked inside_;
};

}  // namespace ringcheck
