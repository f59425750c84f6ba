// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/fast_path.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ringcheck::reference {
namespace {

std::vector<const FastPath*>& registered() {
  static std::vector<const FastPath*> paths;
  return paths;
}

}  // namespace

RegisteredFastPath::RegisteredFastPath(FastPath path) : path_(std::move(path)) {
  registered().push_back(&path_);
}

RegisteredFastPath::~RegisteredFastPath() { std::erase(registered(), &path_); }

const FastPath* fast_path_of(const Group& group) {
  for (const FastPath* path : registered())
    if (path->applies(group))
      return path;
  return nullptr;
}

}  // namespace ringcheck::reference
