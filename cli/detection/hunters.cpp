// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/hunters.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/detection/kill_matrix.h"
#include "cli/process/folder.h"
#include "cli/process/process.h"
#include "cli/process/programs.h"
#include "cli/verify/oracles.h"
#include "cli/workers/interrupts.h"
#include "parity/faults/profile_hunt.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;

// One process with its part of the list; it writes a line a cell.
class Hunter {
 public:
  Hunter(std::vector<Quarry> list, const parity::Hunt& hunt, std::string stem)
      : list_(std::move(list)), hunt_(hunt), stem_(std::move(stem)) {
    for (const parity::Case& test : hunt.among)
      dtypes_.insert(parity::dtype_text(test.dtype));
    start();
  }

  // What came since the last call.
  std::vector<Cell> take() {
    const bool ended = process_->poll().has_value();
    std::vector<Cell> cells;
    std::ifstream stream(stem_ + ".cells");
    stream.seekg(read_);
    for (std::string line; std::getline(stream, line) && !stream.eof();) {
      read_ = stream.tellg();
      cells.push_back(cell_from_json(nlohmann::json::parse(line)));
    }
    done_ += cells.size();
    if (ended && done_ < list_.size()) cells.push_back(died());
    return cells;
  }
  bool finished() const { return done_ >= list_.size(); }

 private:
  void start() {
    Command command{{own_path(), "faults", "--jobs", "1", "--kernel", hunt_.kernel, "--device",
                     hunt_.device, "--cells", stem_ + ".cells"},
                    {{"OMP_NUM_THREADS", "1"}},
                    stem_ + ".log"};
    if (!hunt_.drawn)
      command.words.insert(command.words.end(), {"--oracles", text_of(hunt_.oracles)});
    if (!hunt_.profile.empty())
      command.words.insert(command.words.end(), {"--profile", hunt_.profile});
    for (const std::string& dtype : dtypes_)
      command.words.insert(command.words.end(), {"--dtype", dtype});
    if (hunt_.ask_all) command.words.push_back("--ask-all");
    for (size_t i = done_; i < list_.size(); ++i)
      for (const std::string& word :
           {std::string("--quarry"), list_[i].fault + ":" + parity::dtype_text(list_[i].dtype)})
        command.words.push_back(word);
    process_ = std::make_unique<Process>(command);
  }

  // The cell that the process was at; another one goes on behind it.
  Cell died() {
    const Quarry& at = list_[done_++];
    Cell cell;
    cell.fault = at.fault;
    cell.dtype = at.dtype;
    cell.result = Cell::Result::kSurvived;
    cell.reason = "the process that hunted it ended with " + process_->poll()->text();
    cell.unclean.push_back(cell.fault + ": " + cell.reason);
    if (done_ < list_.size()) start();
    return cell;
  }

  std::vector<Quarry> list_;
  std::set<std::string> dtypes_;  // of a profile
  const parity::Hunt& hunt_;
  std::string stem_;
  std::unique_ptr<Process> process_;
  std::streamoff read_ = 0;
  size_t done_ = 0;
};

// Parts of about the same length. Faults with the same cases stay together: each process runs a
// case without a fault once, and a kernel prepares itself for a shape once.
std::vector<std::vector<Quarry>> parts_of(const std::vector<Quarry>& list, size_t processes) {
  std::map<std::pair<at::ScalarType, std::vector<std::string>>, std::vector<Quarry>> alike;
  for (const Quarry& quarry : list)
    alike[{quarry.dtype, parity::Faults::at(quarry.fault).cases}].push_back(quarry);
  std::vector<std::vector<Quarry>> groups, parts(processes);
  for (auto& [cases, group] : alike) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::ranges::greater(), &std::vector<Quarry>::size);
  for (const std::vector<Quarry>& group : groups) {
    auto& shortest = *std::ranges::min_element(parts, {}, &std::vector<Quarry>::size);
    shortest.insert(shortest.end(), group.begin(), group.end());
  }
  return parts;
}

}  // namespace

std::vector<Cell> hunt_here(const std::vector<Quarry>& list, const parity::Hunt& hunt,
                            const std::function<void(const Cell&)>& done) {
  const Interrupts interrupts;
  std::vector<Cell> cells;
  for (const Quarry& quarry : list) {
    Interrupts::check();
    cells.push_back(hunt.profile.empty() ? parity::hunt(quarry.fault, quarry.dtype, hunt)
                                         : parity::hunt_among(quarry.fault, quarry.dtype, hunt));
    done(cells.back());
  }
  return cells;
}

std::vector<Cell> hunt_in_processes(const std::vector<Quarry>& list, const parity::Hunt& hunt,
                                    size_t processes,
                                    const std::function<void(const Cell&)>& done) {
  const Interrupts interrupts;
  const TemporaryFolder folder;
  const auto parts = parts_of(list, processes);
  std::vector<std::unique_ptr<Hunter>> hunters;
  for (size_t i = 0; i < processes; ++i)
    if (!parts[i].empty())
      hunters.push_back(std::make_unique<Hunter>(parts[i], hunt, folder.file(std::to_string(i))));
  std::map<std::pair<std::string, at::ScalarType>, Cell> found;
  while (found.size() < list.size()) {
    Interrupts::check();
    for (const auto& hunter : hunters)
      if (!hunter->finished())
        for (Cell& cell : hunter->take()) {
          done(cell);
          found[{cell.fault, cell.dtype}] = std::move(cell);
        }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::vector<Cell> cells;
  for (const Quarry& quarry : list) cells.push_back(found.at({quarry.fault, quarry.dtype}));
  return cells;
}

}  // namespace ringcheck::cli
