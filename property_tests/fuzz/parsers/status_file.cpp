// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker left behind, and what its mpirun said: how the supervisor explains a death.
#include "cli/workers/status_file.h"

#include <fstream>
#include <iterator>

#include "cli/process/folder.h"
#include "cli/workers/death.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

constexpr size_t kSaid = 256;  // bytes that the processes printed; the file follows

bool parse(const std::string& bytes) {
  const std::string printed = bytes.substr(0, kSaid), file = bytes.substr(printed.size());
  try {
    const cli::StatusFile status = cli::StatusFile::open(file_of(file));
    std::vector<cli::RankStatus> ranks;
    for (int rank = 0; rank < status.ranks(); ++rank) ranks.push_back(status.read(rank));
    for (const bool ended : {true, false}) {
      const cli::Remains remains{
          ranks, std::vector<bool>(ranks.size(), false),
          ended ? std::optional(cli::Ended{1, 0}) : std::nullopt, 1, printed};
      demand(!cli::explain(remains).reason.empty(), "a death has a reason");
    }
  } catch (const std::runtime_error&) {  // the file cannot be mapped
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const std::string sentence =
      "mpirun noticed that process rank 1 with PID 99 on node here exited on signal 9 (Killed).";
  std::vector<std::string> all;
  const cli::TemporaryFolder folder;
  for (const cli::RankState state : {cli::RankState::kRunning, cli::RankState::kThrew}) {
    const cli::StatusFile status = cli::StatusFile::create(folder.file("status"), 2);
    for (int rank = 0; rank < 2; ++rank) {
      status.begin(rank, 0);
      status.enter(rank, {"send", 3, 1});
      if (state == cli::RankState::kThrew) status.failed(rank, state, "no room");
    }
    std::ifstream stream(folder.file("status"), std::ios::binary);
    all.push_back(sentence + std::string(kSaid - sentence.size(), ' ') +
                  std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  // Found: text of a record without an end, and a rank that is no number of ours.
  all.push_back(std::string(kSaid, ' ') + std::string(2 * sizeof(cli::RankStatus), '\1'));
  all.push_back("process rank 99999999999999999999 with PID 9 on node n exited on signal 9 (K)" +
                all.front().substr(sentence.size()));
  return all;
}

const Parsers::Add add{"status_file", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
