// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::cli {

// Of what the processes of a worker wrote: the last `size` bytes.
std::string tail(const std::string& text, size_t size);

// The beginning, in one line; launchers frame it with dashes.
std::string in_a_line(const std::string& text);

// The same of a self-test that failed, whatever a launcher wrote before, and MPI behind.
std::string self_test_in_a_line(const std::string& text);

}  // namespace ringcheck::cli
