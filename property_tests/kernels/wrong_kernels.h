// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/subject/ours.h"

namespace ringcheck {

// A subject that is right but for one thing in the kernel of each rank.
struct WrongSubject {
  std::string name;
  parity::SharedSubject subject;
};

// One block of keys lost, counted twice, or stale; a mask off by one either way; a key of zeros that
// leaks into the softmax.
std::vector<WrongSubject> wrong_subjects();

}  // namespace ringcheck
