// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace ringcheck {

// What an exception says, without the frames that LibTorch adds and the numbers that nlohmann-json gives its messages.
std::string words_of(const std::exception& error);

}  // namespace ringcheck
