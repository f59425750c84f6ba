// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "parity/subject/ours.h"

namespace ringcheck::search {

// Ours with one thing wrong: what a search has to find, and make small.
struct Planted {
  std::string says;
  parity::SharedSubject subject;
};
std::map<std::string, Planted> planted();

}  // namespace ringcheck::search
