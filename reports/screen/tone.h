// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace ringcheck::reports {

// What a piece of text is to its reader.
enum class Tone { kPlain, kGood, kBad, kOpen, kFaint };

// How it looks where it is read: in colour on a terminal, unchanged in a file.
using Paint = std::function<std::string(Tone, const std::string&)>;

inline std::string unpainted(Tone, const std::string& text) { return text; }

}  // namespace ringcheck::reports
