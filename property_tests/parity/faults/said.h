// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/judge/verdict.h"

namespace ringcheck::parity {

// The verdict of an oracle of which nothing else is known.
inline OracleVerdict said(Status status) {
  OracleVerdict verdict;
  verdict.status = status;
  return verdict;
}

}  // namespace ringcheck::parity
