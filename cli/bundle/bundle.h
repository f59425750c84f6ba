// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "parity/judge/recorded/recording.h"
#include "parity/judge/runner.h"
#include "parity/subject/files/manifest.h"

namespace ringcheck::cli {

// A folder with all that the verdict on a failed case follows from, and that verdict (docs/files.md).
struct Bundle {
  parity::Recording recording;
  nlohmann::json manifest;
};

inline const parity::Format kBundle{"ringcheck-bundle", 1, "ringcheck verify --bundle"};

// What is kept of a run: so many bundles at most, each of so many bytes; and of a case that ran on a
// GPU, which is judged on the CPU once more, so many scores.
inline constexpr size_t kMostBundles = 20;
inline constexpr int64_t kMostBundleBytes = int64_t{256} << 20;
inline constexpr double kMostGpuScores = 0x1p26;

// The name of its folder, of the text of a case.
std::string bundle_name(const std::string& test);

// For RunOptions::failed: writes a bundle of each case that fails below this folder, beside it at
// first and then renamed. Those beyond the limits, or that cannot be written, are not there.
std::function<void(const parity::Trial&, const parity::Observed&, const parity::Verdict&)> keep_in(
    const std::string& folder);

Bundle read_bundle(const std::string& folder);  // throws BadCase

}  // namespace ringcheck::cli
