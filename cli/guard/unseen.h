// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/guard/guarded.h"

namespace ringcheck::cli {

// What may be wrong although every law holds, given these files: by its name in
// docs/conservation.md, in words.
struct Unseen {
  std::string what, says;
};
std::vector<Unseen> unseen(const Guarded& all);

}  // namespace ringcheck::cli
