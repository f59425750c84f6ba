// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cli/process/folder.h"
#include "cli/workers/status_file.h"
#include "cli/workers/survivor.h"
#include "reports/journal.h"

namespace ringcheck::cli {

// What rank 0 of a launcher's ranks leaves of its run, however that ends: a journal, what every rank
// of this machine is doing, and a Survivor that makes the files of both.
class Record {
 public:
  // The files that the run is to write; empty: none. The journal lies beside the first that is one
  // on a disk; where none is, in a temporary folder, and only a Survivor can read it.
  Record(const std::string& json, const std::string& junit, int ranks);
  ~Record();  // remove(), where nothing else was asked for

  reports::Journal& journal() { return journal_; }
  std::string status_path() const { return folder_.file("status"); }
  // Of this process, as rank 0: from now on it is noted what ends it, and the files are made first.
  void note_end() const;

  // The run ends here: the files are made of what is known.
  void make_files();
  // The run wrote its files itself, or nothing that ran is worth any.
  void remove();
  // The files could not be written: the journal stays.
  void keep();

 private:
  TemporaryFolder folder_;
  StatusFile status_;
  reports::Journal journal_;
  std::unique_ptr<Survivor> survivor_;
  bool settled_ = false;
};

}  // namespace ringcheck::cli
