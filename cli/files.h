// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::cli {

// A file that a command writes, or a folder, and by which of its options; an empty path: it was not asked for.
struct Output {
  std::string option, path;
  bool is_folder = false;  // whoever makes it says whether it can be made
};

// Before any work: outputs are files of their own, none of which is an input, however their names are
// spelt, and can be written. Throws UsageError and reports::Unwritable.
void check_files(const std::vector<std::string>& inputs, const std::vector<Output>& outputs);

// A shard that is read twice is two ranks. Throws UsageError.
void check_distinct(const std::string& command, const std::vector<std::string>& files);

// What is read of these: the files, and of folders, bundles or cases, the manifest and the tensors.
std::vector<std::string> files_of(const std::vector<std::string>& paths);

// A history and what SQLite keeps beside it; none where there is no name.
std::vector<std::string> history_files(const std::string& history);

// Do both names lead to one file, which need not be there yet?
bool are_same_file(const std::string& one, const std::string& other);

}  // namespace ringcheck::cli
