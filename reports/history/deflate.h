// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// zlib, of whole texts.
namespace ringcheck::reports {

std::string deflated(const std::string& text);
// Throws std::invalid_argument unless it is the deflated form of `bytes` bytes.
std::string inflated(const std::string& deflated, size_t bytes);

}  // namespace ringcheck::reports
