// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/plan/figures.h"
#include "parity/case/case.h"

// Strategy "auto": the fastest on the ranks of a case, all on one host, by the model of a plan.
namespace ringcheck::cli {

inline constexpr const char* kAutoStrategy = "auto";

struct Pick {
  parity::Case test;  // of that strategy
  std::string why;    // what each would take, or why it cannot, and who measured
};

// Of a case in its text form that begins with "auto/". Throws parity::BadCase where the model does not
// know such cases: it names what is in the way, and what to do.
Pick picked(const std::string& text, const Figures& figures);

}  // namespace ringcheck::cli
