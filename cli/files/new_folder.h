// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace ringcheck::cli {

// Makes a folder that is there with all that `fill` puts into it, or not at all: written beside it,
// then renamed. Throws UsageError where something has its name, or it cannot be made.
void make_folder(const std::string& path, const std::function<void(const std::string&)>& fill);

// Makes a folder where there is none. Throws UsageError where it cannot be made, or a file not be written into it.
void open_folder(const std::string& path);

// Throws UsageError unless make_folder(path) would work now.
void check_new_folder(const std::string& path);

}  // namespace ringcheck::cli
