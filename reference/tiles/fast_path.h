// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "reference/tiles/group.h"
#include "reference/solve.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// A faster way to attend() in some groups. It gives what attend_plainly() gives, to rounding.
struct FastPath {
  std::string name;
  std::function<bool(const Group&)> applies;
  std::function<Solution(const Group&, const Tiles&)> attend;
};

// While it lives, attend() takes this path wherever it applies. What links CUDA is in a library of
// its own, which registers its path when it is loaded; no case may be running then.
class RegisteredFastPath {
 public:
  explicit RegisteredFastPath(FastPath path);
  ~RegisteredFastPath();
  RegisteredFastPath(const RegisteredFastPath&) = delete;
  RegisteredFastPath& operator=(const RegisteredFastPath&) = delete;

 private:
  FastPath path_;
};

// The first one registered that applies, or null.
const FastPath* fast_path_of(const Group& group);

}  // namespace ringcheck::reference
