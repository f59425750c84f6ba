// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/record.h"

#include <filesystem>
#include <iostream>

#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/results/recovery.h"
#include "cli/screen.h"
#include "cli/usage_error.h"
#include "cli/workers/death.h"
#include "reports/screen/console.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;

Survivor* survivor_of_process = nullptr;  // for the handler of its signals

void let_it_act() {
  if (survivor_of_process != nullptr) survivor_of_process->act();
}

bool is_on_disk(const std::string& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  return !path.empty() && path != "-" && (!fs::exists(found) || fs::is_regular_file(found));
}

std::string journal_path(const std::string& json, const std::string& junit,
                         const TemporaryFolder& folder) {
  for (const std::string& file : {json, junit})
    if (is_on_disk(file)) {
      const std::string journal = file + ".journal";
      if (!junit.empty() && are_same_file(journal, junit))
        throw UsageError("--junit '" + junit + "' is the journal of --json; name another file");
      return journal;
    }
  return folder.file("journal");
}

std::vector<RankStatus> all_of(const StatusFile& status) {
  std::vector<RankStatus> ranks;
  for (int rank = 0; rank < status.ranks(); ++rank) ranks.push_back(status.read(rank));
  return ranks;
}

}  // namespace

Record::Record(const std::string& json, const std::string& junit, int ranks)
    : status_(StatusFile::create(status_path(), ranks)),
      journal_(journal_path(json, junit, folder_)) {
  if (const std::string& earlier = journal_.earlier(); !earlier.empty())
    std::cerr << "ringcheck: the journal of an earlier run is kept as '" << earlier
              << "'; its result: ringcheck result recover " << earlier << " -o FILE\n";
  survivor_ = std::make_unique<Survivor>([this, json, junit] {
    if (!journal_.is_empty()) {
      const reports::Result result =
          recovered(read_text(journal_.path(), "a journal"), explain_launched(all_of(status_)));
      write_recovered(result, json, junit);
      std::ostream& screen = reports::screen_beside({json, junit});
      screen << reports::console_report(result, reports::exit_code(result.cases), paint_on(screen));
    }
    journal_.remove();
    std::error_code ignored;
    fs::remove_all(folder_.path(), ignored);
  });
  survivor_of_process = survivor_.get();
}

Record::~Record() {
  if (!settled_) remove();
  survivor_of_process = nullptr;
}

void Record::note_end() const { status_.note_end(0, let_it_act); }

void Record::make_files() {
  settled_ = true;
  survivor_->act();
}

void Record::remove() {
  keep();
  journal_.remove();
}

void Record::keep() {
  settled_ = true;
  survivor_->dismiss();
}

}  // namespace ringcheck::cli
