// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "cp/registry.h"
#include "parity/case/case.h"

namespace ringcheck::parity {

// The balance of a subject that cuts the sequence itself, as it is written in a case. No member of
// Balancers: ours cannot have it, and no profile draws it.
inline constexpr std::string_view kOwnBalance = "own";
bool cuts_itself(const Method& method);

// How subjects of a name do: the shards of all ranks, which together hold each position of the padded
// sequence once and have equally many. Throws BadCase where this one does not.
using OwnBalances = Registry<std::function<Layout(const Case&)>>;

// What divides the padded length of a case. Of its own balance it is 1: that decides where pads are.
int64_t granule_of(const Case& test);

}  // namespace ringcheck::parity
