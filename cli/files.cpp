// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <filesystem>
#include <set>

#include "cli/usage_error.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;

// - is stdout.
std::string path_of(const std::string& name) { return name == "-" ? "/dev/stdout" : name; }

fs::path resolved(const std::string& name) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path_of(name), failed).lexically_normal();
  const fs::path real = fs::weakly_canonical(whole, failed);
  return failed ? whole : real;
}

}  // namespace

bool are_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return resolved(one) == resolved(other) || fs::equivalent(path_of(one), path_of(other), ignored);
}

void check_distinct(const std::string& command, const std::vector<std::string>& files) {
  std::set<fs::path> seen;
  for (const std::string& file : files)
    if (!seen.insert(resolved(file)).second)
      throw UsageError(command + ": '" + file + "' is given twice; give every file once");
}

std::vector<std::string> history_files(const std::string& history) {
  if (history.empty()) return {};
  return {history, history + "-wal", history + "-shm", history + "-journal"};
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::error_code ignored;  // who reads it says what is wrong with it
  for (const std::string& path : paths) {
    files.push_back(path);
    for (fs::recursive_directory_iterator entry(path, ignored), end; entry != end; entry.increment(ignored)) {
      if (entry.depth() > 0) entry.disable_recursion_pending();  // answers lie in case-N
      if (entry->path().extension() == ".safetensors" || entry->path().filename() == "manifest.json")
        files.push_back(entry->path());
    }
  }
  return files;
}

void check_files(const std::vector<std::string>& inputs, const std::vector<Output>& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const auto& [option, path, is_folder] = *output;
    if (path.empty()) continue;
    for (const std::string& input : inputs)
      if (!input.empty() && are_same_file(path, input))
        throw UsageError(option + " '" + path + "' is what is read, '" + input +
                         "', and would be overwritten; name another file");
    for (auto before = outputs.begin(); before != output; ++before)
      if (!before->path.empty() && are_same_file(path, before->path))
        throw UsageError(before->option + " '" + before->path + "' and " + option + " '" + path +
                         "' name the same file; name two files");
    if (!is_folder) reports::check_writable(path);
  }
}

}  // namespace ringcheck::cli
