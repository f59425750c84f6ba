// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace ringcheck::testing {

// The JSON files below reports/results, sorted.
inline std::vector<std::filesystem::path> committed_results() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(RINGCHECK_SOURCE_DIR "/reports/results"))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace ringcheck::testing
