// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::cli {

// Where a run keeps what failed: made where it is not there, no other run's meanwhile, and gone at the
// end where nothing failed.
class BundleFolder {
 public:
  explicit BundleFolder(std::string path);  // empty: none. Throws UsageError
  ~BundleFolder();
  BundleFolder(const BundleFolder&) = delete;
  BundleFolder& operator=(const BundleFolder&) = delete;

  // Says in the findings of each failed case where it is kept, and on stderr of how many nothing is.
  void note(std::vector<reports::CaseResult>& results) const;

 private:
  void make();
  void hold();

  std::string path_;
  bool made_ = false;
  int held_ = -1;  // its descriptor, locked
};

}  // namespace ringcheck::cli
