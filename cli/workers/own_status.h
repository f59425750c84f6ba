// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/workers/status_file.h"
#include "cp/worlds/communicator.h"

namespace ringcheck::cli {

// What one rank of a launcher says of itself in the status file of rank 0. Says nothing on another
// machine than that of rank 0.
class OwnStatus {
 public:
  // Rank 0 knows the file before the ranks meet; empty: the others do not.
  OwnStatus(int rank, const std::string& path);
  // From rank 0 every rank learns where it is. Collective.
  void share(Communicator& all);

  void begin(size_t test) const;
  void enter(const Operation& operation) const;
  void failed(RankState state, const std::string& why) const;
  void done() const;

 private:
  int rank_;
  std::string path_;
  std::optional<StatusFile> file_;
};

}  // namespace ringcheck::cli
