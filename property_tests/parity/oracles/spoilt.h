// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "parity/judge/runner.h"

namespace ringcheck {

// What is done to the output of every rank of our subject before it is judged, and to what it
// promises.
using Spoil = std::function<void(Communicator&, parity::RankOutput&)>;
parity::Verdict verify_spoilt(const parity::Case& test, const Spoil& spoil,
                              parity::RunOptions options = {},
                              std::function<void(parity::Promise&)> promise = {});

// o | lse | dq | dk | dv
at::Tensor& of(parity::RankOutput& output, const std::string& name);

// What an oracle said. Throws where it was not asked.
const parity::OracleVerdict& oracle(const parity::Verdict& verdict, const std::string& name);

}  // namespace ringcheck
