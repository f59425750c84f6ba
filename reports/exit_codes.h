// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a command that judged something ends with, 0 where all of it is well; docs/cli.md says which are whose.
namespace ringcheck::exit_codes {

inline constexpr int kWrong = 1;
inline constexpr int kUsage = 2;
inline constexpr int kSlower = 3;
inline constexpr int kContract = 4;  // only a counter or memory contract is violated
inline constexpr int kDead = 5;      // the subject hung or crashed
inline constexpr int kInconclusive = 6;
inline constexpr int kSelfTest = 70;
inline constexpr int kNothingRan = 77;

// Where several apply, the first.
inline constexpr int kBySeverity[] = {kSelfTest, kDead, kWrong, kContract, kSlower, kInconclusive};

}  // namespace ringcheck::exit_codes
