// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {

// A case that is over at once, one that runs for as long as a test needs, and one behind it.
inline const std::vector<std::string> kThreeCases{
    "--case", "ring:p2p/P3/hq2/hkv2/s60/d16/float32",
    "--case", "ring:p2p/P3/hq4/hkv4/s9000/d128/float32",
    "--case", "ring:p2p/P3/hq2/hkv2/s60/d16/float32/seed2"};

// A port of this machine that nobody listens on.
std::string free_port();

// Runs of `ringcheck verify` under launchers, with files in a folder of the test.
class LaunchedRun : public ::testing::Test {
 protected:
  // Under mpirun, 3 ranks.
  void start(const std::vector<std::string>& words = kThreeCases);
  // As a rank that is started by hand.
  std::unique_ptr<Running> rank(int rank, int world, const std::string& port,
                                const std::vector<std::string>& words) const;

  // When the second case runs: the program of a rank, or the one that survives rank 0 (-1);
  // throws where there is none.
  pid_t process(int rank) const;
  // The ranks, what survives them, and mpirun, as long as they live.
  std::vector<Found> alive() const;
  // What mpirun left, when none of them is alive any more.
  Ran end();

  // The result obeys the schema, JUnit tells the same, and nothing else is left: by name of the case.
  nlohmann::json result() const;
  // Of three cases the first one keeps its verdict, the second has this one, the third is skipped.
  nlohmann::json second_case(const std::string& verdict) const;

  std::string file(const std::string& name) const { return folder_.file(name); }
  bool exists(const std::string& name) const;

  Folder folder_;
  std::unique_ptr<Running> program_;
};

}  // namespace ringcheck::testing
