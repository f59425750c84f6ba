// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reports/result.h"

// A run as it goes, in a file, a line of JSON each: first the result that it would be if no case came
// to run, all of them skipped, with a member `journal`; then {"began": 3} when a case begins and
// {"ended": 3, "case": {...}} when it has a result, each with `at`, in seconds since the first line.
namespace ringcheck::reports {

// The one who writes it. The file is locked as long as this process, or a child of it, has it open.
class Journal {
 public:
  // A file that somebody else is writing is refused with Unwritable, as one that cannot be written is.
  // One that is left from an earlier run is kept under the name that earlier() says.
  explicit Journal(std::string path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const std::string& path() const { return path_; }
  const std::string& earlier() const { return earlier_; }  // empty: there was none
  bool is_empty() const;

  void head(const Result& nothing_ran);
  void began(size_t test);
  void ended(size_t test, const CaseResult& result);  // on the disk when it returns
  void remove();

 private:
  void write(const std::string& line);
  double at() const;

  std::string path_, earlier_;
  int descriptor_ = -1;
  bool full_ = false;  // nothing more can be written: said once
  std::chrono::steady_clock::time_point begin_;
};

// A first line: a result whose summary nobody has made yet. Throws std::invalid_argument.
Result uncounted_from_json(const nlohmann::json& json);

// What a journal says.
struct Journaled {
  Result result;                  // as far as it is known, with its summary
  std::vector<bool> ended;        // by case
  std::optional<size_t> running;  // the case that had begun and not ended
};
// A last line that is cut is left out. Throws std::invalid_argument where this is no journal of this
// version, or another line is none.
Journaled read_journal(const std::string& text);

// Does somebody write it now?
bool is_being_written(const std::string& path);

}  // namespace ringcheck::reports
