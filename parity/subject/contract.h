// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "parity/case/case.h"
#include "reference/errors/contract.h"

namespace ringcheck::parity {

// What RMS z, and the |bias| of the worst rank, of a tensor were over many seeds of one case.
struct Chart {
  double rms_mean = 0, rms_sd = 0, bias_mean = 0, bias_sd = 0;
};

// The numerics contract of a kernel, as committed beside its source. Throws BadCase.
const nlohmann::json& contract_json(const std::string& kernel);

// The numerics contract of the kernel of a case, for its dtype. Throws BadCase where the kernel's
// contract lists no such dtype.
reference::Contract contract_of(const Case& test);

// The same of its backward pass, where the contract says that it is another.
std::optional<reference::Contract> backward_contract_of(const Case& test);

// Of both passes.
reference::Contracts contracts_of(const Case& test);

// Rounded partial results that the kernel of a case merges a row of one call from, at most: several where K and V of a head, of
// all tokens, take more bytes than its contract says under `long_triangles`, and a mask has a diagonal.
int partials_of_a_call(const Case& test);

// Rounded partial gradients that dQ, and dK and dV by one query head, are merged from; 0: as many as O.
struct GradientPartials {
  int dq = 0, dkv = 0;
};

// The same of ours, at most: one for each strip that sees a token, which are many where queries are dealt in small blocks.
// 0 where rounding them has no underflow step: nothing depends on it.
GradientPartials gradient_partials_of(const Case& test);
// The same where shards are not those of the case, by a backward pass of this contract.
GradientPartials gradient_partials_of(const Case& test, const Layout& layout, const reference::Contract& backward);

// For tensors of these dtypes by an unknown kernel: of each constant the largest that a committed
// contract has for one of them.
reference::Contract loosest_contract(const std::set<at::ScalarType>& dtypes);

// The same kernel in an implementation of which it is not known how it merges: by differences, too.
reference::Contract merging_anyhow(reference::Contract contract);

// The case under which charts stand: what gives the same numbers shares them.
std::string chart_key(Case test);

// The calibration of its kernel for this case, by tensor; nothing at shapes that were not
// calibrated, nor on GPUs of another architecture than the contract says: other hardware may add up
// in another way.
std::map<std::string, Chart> charts_of(const Case& test);

}  // namespace ringcheck::parity
