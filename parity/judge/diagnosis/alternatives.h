// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/judge/diagnosis/asked.h"

namespace ringcheck::parity {

// What somebody may have computed in place of it.
struct Alternative {
  std::string words;  // behind "as if"
  std::function<reference::Tensors()> answer;  // as of attended()
};

// Usual mistakes of context parallelism, those that can make a difference in this case; the likeliest first.
// They refer to `asked`.
std::vector<Alternative> alternatives(const Asked& asked);

}  // namespace ringcheck::parity
