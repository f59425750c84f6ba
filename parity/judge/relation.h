// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/judge/oracle.h"

// Metamorphic relations: what one run of a subject says about another (Chen et al. 2018). They need
// no reference for their values; those within bounds ask it how far two correct runs may differ.
namespace ringcheck::parity {

// The case's own tensors after a change. `positions` are those of the slots, in their order.
using Change = std::function<void(Problem&, const std::vector<int64_t>& positions)>;
Run changed(const Case& test, Change change);

// These tensors of the case with other values at some positions.
using ProblemTensors = std::vector<at::Tensor Problem::*>;
Run disturbed(const Case& test, ProblemTensors which, std::function<bool(int64_t)> where);

// The case on another number of ranks that are threads: the first of these on which ours can run it.
std::vector<Run> on_other_ranks(const Case& test, const std::vector<int>& worlds);

// A run with these tensors in reverse order of the sequence. None where order means something: only
// where every query sees every key, no batch entry ends before others, and nothing is rotated by its
// position.
std::vector<Run> in_reverse(const Case& test, ProblemTensors which);

// Exact relations: these bits, none where `expected` is undefined; -0 is 0.
// A NaN fails.
OracleVerdict identical(const Case& test, const reference::Tensors& actual,
                        const reference::Tensors& expected);

// Whether inputs times a power of two give results times a power of two, bit for bit. fp16 has too
// few exponents: there, what is rounded changes with the size.
bool multiplies_exactly(const Case& test);

// The multiple of `one` that `many` should be. What is next to nothing on both sides, so that what
// led there may have been flushed to zero, is as good as equal, and so is what is off by a unit in its
// last place, or by two in that of the largest accumulator of its row, from which RoPE turns it: a term
// that underflows in one run decides a tie in the other. Undefined where `one` is.
at::Tensor multiple(double factor, const at::Tensor& one, const at::Tensor& many);

// One tensor, of any name. As if every bit that differs were infinitely wrong.
TensorVerdict same_bits(const Case& test, const char* name, const at::Tensor& actual,
                        const at::Tensor& expected);

// All further runs have the bits of the run of the case.
OracleVerdict same_bits_in_all_runs(const Evidence& evidence);

// Fails by this finding for each further run that did not do what it was asked for beside the passes.
void demand_done(const Evidence& evidence, const std::string& finding, OracleVerdict& verdict);

// What of a rank's record is to be the same in a further run. What it holds, at least at its peak, depends on what an
// allocator does; `counters` bounds that.
using OfRecord = RankRecord (*)(RankRecord, const Case&);
RankRecord moved_and_attended(RankRecord record, const Case&);  // pads are part of what has the same bits

// Fails by contract and by this finding, where the subject counts anything, for each rank of which that is something else in a
// further run than in the case's own.
void demand_same_records(const Evidence& evidence, OfRecord what, const std::string& finding, OracleVerdict& verdict);

// Relations within bounds: what a run computed, and how far it may be from the truth.
struct Measured {
  reference::Tensors value, bound, sigma;
};
Measured measured(const Evidence& evidence, const Run& run, const Outcome& outcome);

// What a linear image of the tensors makes of all three. Undefined tensors are not claimed.
using Image = std::function<reference::Tensors(const reference::Tensors&)>;
Measured image(const Measured& of, const Image& map);

// Two runs that should agree do, within the sum of their bounds and 8 standard deviations.
OracleVerdict agree(const Case& test, const Measured& actual, const Measured& expected);

// The run is as near to its own truth as its arithmetic allows.
OracleVerdict right(const Evidence& evidence, const Run& run, const Outcome& outcome);

// A verdict of many parts: fails where any does.
OracleVerdict all_of(std::vector<OracleVerdict> parts);

}  // namespace ringcheck::parity
