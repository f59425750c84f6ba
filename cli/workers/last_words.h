// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::cli {

// From now on, where an exception that nobody catches ends this process, a line on stderr says which: a GPU that an
// illegal access has ended makes destructors throw, on many threads at once, of which none says why.
void say_what_ends_this_process();

// That line in what a process wrote, without its beginning, or "".
std::string last_words(const std::string& output);

}  // namespace ringcheck::cli
