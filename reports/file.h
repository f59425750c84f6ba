// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>

namespace ringcheck::reports {

// A file cannot be written: says which, why and what to do.
class Unwritable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What people read: stdout, or stderr beside files of which one goes to stdout.
std::ostream& screen_beside(const std::string& path);
std::ostream& screen_beside(std::initializer_list<std::string> paths);

// Whether who read stdout, through a pipe, has gone: that one wanted no more, which is no error.
bool reader_has_gone();

// Throws Unwritable unless write_file(path) would work now. Leaves no trace.
void check_writable(const std::string& path);

// Readers see the old file or the whole new one: written beside it, then renamed. - is stdout, and so are
// its names in /dev and /proc; what is no regular file, or lies in these folders, is written directly; behind
// a link the file it leads to is written. A reader of a pipe that has gone is no error. Throws Unwritable.
void write_file(const std::string& path, const std::string& content);

}  // namespace ringcheck::reports
