// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/plan/figures.h"
#include "parity/case/case.h"

// Strategy "auto": the fastest on the ranks of a case, all on one host, by the model of a plan.
namespace ringcheck::cli {

struct Pick {
  parity::Case test;  // of that strategy
  std::string why;    // what each would take, or why it cannot, and who measured
};

// Whether a case in its text form leaves the strategy open: it begins with "auto/".
bool is_auto(const std::string& text);

// Of such a case. Throws parity::BadCase where the model does not know it: it names what is in the way,
// and what to do.
Pick picked(const std::string& text, const Figures& figures);

}  // namespace ringcheck::cli
