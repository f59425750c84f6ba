// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parity/subject/rank_record.h"

namespace ringcheck::parity {

// A record as numbers, as many in every rank of a world, and back: to be sent, or kept in a file. Its
// words and its timeline are left out. Seconds are there as the bits of a double. Throws
// std::invalid_argument where a record cannot have these numbers.
std::vector<int64_t> numbers_of(const RankRecord& record);
RankRecord record_from(std::span<const int64_t> numbers);

}  // namespace ringcheck::parity
