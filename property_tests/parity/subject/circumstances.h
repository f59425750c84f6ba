// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "parity/judge/runner.h"

// One oracle asked about one subject in one case, and subjects that give themselves away.
namespace ringcheck::circumstances {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Status;

using Spoil = std::function<void(Communicator&, const Case&, const RankInput&, RankOutput&)>;
inline const Spoil kNothing = [](auto&&...) {};

parity::OracleVerdict judged_in(const Case& test, const std::string& oracle,
                                const parity::SharedSubject& subject);
parity::OracleVerdict judged(const std::string& oracle, const std::string& text,
                             const parity::SharedSubject& subject);

// Ours, with something done to its outputs and its promise.
parity::SharedSubject spoilt(const Spoil& spoil,
                             std::function<void(parity::Promise&)> promise = {});
Status status(const std::string& oracle, const std::string& text, const Spoil& spoil);

inline constexpr const char* kCases[] = {"causal/float64/P1", "full/float32/P2", "causal/bf16/P3",
                                         "window[9]/fp16/P5", "doc[17,23]/bf16/P8"};
std::string with_rope(const std::string& text);

// What an oracle says of ours: in packed documents positions do not shift, one rank makes no group.
Status of_ours(const std::string& oracle, const std::string& text);

}  // namespace ringcheck::circumstances
