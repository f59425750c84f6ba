// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <stdexcept>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// The suite itself is wrong here: nothing that it would say counts.
class SelfTestFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Before a worker, the first of a run, judges on GPUs: each of them makes the inputs that the CPU makes and tallies
// elements as it does, and on each the reference does what it does on the CPU and without its fast
// path, on problems that are new in every run. Throws SelfTestFailed.
void test_devices_of(const std::vector<Case>& cases);

// The same on these devices, whatever they are.
void test_devices(const std::vector<at::Device>& devices);

}  // namespace ringcheck::parity
