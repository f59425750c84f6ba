// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/case.h"

// Code of others may end or hold up whoever loads or asks it: a worker does so first.
namespace ringcheck::cli {

// In a worker: loads a plug-in, and asks it what it refuses and promises of each case, whose text goes
// to stdout before it is asked. Whether it is a plug-in, and what it says, who asks next is told.
int ask_plugin(const std::string& library, const std::vector<parity::Case>& cases);

// In the supervisor: has a worker load every plug-in that the texts of subjects and cases name, once.
// Throws UsageError where that ends or holds up the worker.
void check_plugins(const std::vector<std::string>& texts);

// And asks those that the cases name of them. Throws UsageError where a plug-in ends the worker, or
// does not answer within `seconds`.
void check_answers(const std::vector<parity::Case>& cases, double seconds);

}  // namespace ringcheck::cli
