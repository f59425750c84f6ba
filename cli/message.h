// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::cli {

// A message as one line, whatever words and files it quotes: what is no printable text stands as
// \x0a, and of a long one begin and end are left.
std::string one_line(const std::string& text);

}  // namespace ringcheck::cli
