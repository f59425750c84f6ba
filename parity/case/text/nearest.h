// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::parity {

// The name that was most likely meant by a word that is none of them; empty where none is near.
// Brackets and what is in them do not count.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

// "unknown kernel 'flahs'; did you mean 'flash'? known: flash, plain"
std::string unknown_name(const std::string& family, const std::string& word,
                         const std::vector<std::string>& names);

}  // namespace ringcheck::parity
