// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "parity/faults/fault.h"
#include "parity/faults/self_test/demands.h"
#include "parity/judge/judging.h"
#include "parity/judge/verdict.h"

namespace ringcheck::parity {

// Does the judging accept an outcome that is known to be right, and reject it with any one of its
// tensors replaced by zeros, a constant, NaN on one rank, NaN in its last element, nothing, the
// output of the case before, that of another seed, that of float32 arithmetic (in float64), or one
// element moved beyond its bound? Every oracle is asked about the tensors that it claims: those it
// passes, by name, on the clean outcome, in cases with data of which it has something to say. A
// contract oracle must reject any counter of any rank that is off by one. One that compares runs
// with each other must reject NaN in all of them and, in each further run alone, each tensor as
// float32 rounds it (in float64), one that measures growth any rank that grows. All that an oracle
// claims it must have compared element by element, and one that has nothing to say of any known case
// is wrong as well. No subject is run: plain loops answer, also for the other order of devices, which
// takes several.
SelfTest self_test(at::ScalarType dtype, const std::vector<std::string>& oracles,
                   const AskOracle& judge);

// The judging as it is.
OracleVerdict judge_plainly(const Oracle& oracle, const Evidence& evidence);

// Does a judging that looks at so many queries and keys of each head accept what is right, reject
// what is wrong everywhere, and reject NaN in any one slot at which it looks?
void examine_sample(int64_t sample, const AskOracle& judge, SelfTest& result);

// Does each of these oracles accept what is half as far off as it may be, and refuse what is twice as far? Of those whose
// limits are known: rows of a tensor, NaN beside where it may be, memory that grows, multiples by a power of two.
void examine_limits(const std::vector<std::string>& oracles, const AskOracle& judge, SelfTest& result);

// Is every relation that applies to small cases drawn by one of many? A profile in which it never is passes
// without it.
using DrawOracles = std::function<std::vector<std::string>(const Case& test, const Subject& subject)>;
void examine_draws(const DrawOracles& draw, SelfTest& result);

// Does a case end as it is to: a rank that fails is a crash, one that waits for what nobody sends a hang, a subject that
// refuses it not supported, and does the verdict say why? Takes the 100 ms of a hang.
using VerifyCase = std::function<Verdict(std::chrono::milliseconds deadline, const Case& test, const SharedSubject& subject)>;
Verdict verify_within(std::chrono::milliseconds deadline, const Case& test, const SharedSubject& subject);
void examine_failures(const VerifyCase& verify, SelfTest& result);

// What the oracles are given and what is said of it together: rotated q and k of the case and of its further runs, a tensor
// that is missing, the limits of the conservation laws and of rotated elements, the spread of LSE, and what pads hold; and
// what the next three examine.
void examine_judged(SelfTest& result);

// A subject that wastes memory, sends outside the passes and forgets a message, on two threads: is all of it counted, on each
// rank, and does a buffer hold NaN until its message is waited for?
void examine_meters(SelfTest& result);
// Are pads NaN, and no tokens? Is data as wide as its family says, and do routes lead from rank to rank?
void examine_data(SelfTest& result);
// Who judges where nobody says otherwise, what ours promises to merge, and whether cases find the charts of their kernels.
void examine_promises(SelfTest& result);
// Does ours refuse, on a CPU, what it cannot do, and nothing else? Profiles are drawn from what it takes: what it refused by mistake
// would be missing, and nobody would see it.
void examine_refusals(SelfTest& result);

// Is what a subject keeps of each call counted? It takes the 100 ms after which what is held is held for good: only where
// `leak` is asked.
void examine_growth(SelfTest& result);

// Before any case is judged, where it is judged: all of the above for the oracles that these cases
// will ask, the judge's own arithmetic, the reference and the closed forms against what is known.
// Their devices are test_devices_of()'s. Throws SelfTestFailed, which says what first was wrong.
void test_before(const std::vector<Case>& cases, const Judging& judging,
                 const AskOracle& judge = judge_plainly);

}  // namespace ringcheck::parity
