// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

#include "parity/faults/kill_matrix.h"
#include "parity/faults/self_test/self_test.h"
#include "reports/result.h"
#include "reports/screen/tone.h"

namespace ringcheck::cli {

// What a run of `ringcheck faults` found.
struct KillMatrix {
  reports::Environment environment;
  std::vector<std::string> oracles;
  std::string profile;  // in whose cases they were planted, one cell a fault; else in their own
  std::vector<std::string> dtypes;  // of the cases of a profile; empty: all
  std::string shard;                // "2/4": the second of four runs that share the faults; else empty
  parity::SelfTest self_test;
  std::vector<parity::Cell> cells;
};

// In the order in which they come.
std::vector<std::string> dtypes_of(const KillMatrix& matrix);

parity::Score score_in(const KillMatrix& matrix, const std::string& dtype);
// A fault counts as noticed where it is killed in at least one dtype.
parity::Score score_by_fault(const KillMatrix& matrix);

// How often an oracle was asked, and had something to say, and how often it saw the fault.
struct TimesAsked {
  int times = 0, saw = 0;
};
std::map<std::string, TimesAsked> times_asked(const KillMatrix& matrix);

// What is wrong with the cases themselves, each once.
std::vector<std::string> unclean(const KillMatrix& matrix);

// What readers of the console and of the page are told alike, a line each.
std::string headline(const KillMatrix& matrix);
std::string self_test_text(const parity::SelfTest& test);
std::string not_killed(const KillMatrix& matrix);
// Of a profile: how many it kills, and how many of them the verdict names.
std::string profile_headline(const KillMatrix& matrix);

// Of a run that ends with this code: the verdict, the bugs in words, who saw them.
std::string console_text(const KillMatrix& matrix, int exit_code, const reports::Paint& paint);

// A result of kind faults. Reading throws nlohmann::json::exception, std::invalid_argument or
// parity::BadCase where it is none.
nlohmann::json to_json(const KillMatrix& matrix);
KillMatrix matrix_from_json(const nlohmann::json& file);
nlohmann::json to_json(const parity::Cell& cell);
parity::Cell cell_from_json(const nlohmann::json& json);

}  // namespace ringcheck::cli
