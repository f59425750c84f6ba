// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "parity/subject/rank_record.h"

namespace ringcheck::parity {

// A record as numbers, as many in every rank of a world, and back: to be sent, or kept in a file.
// Seconds are there as the bits of a double; `peers` is how many other ranks it counts bytes of.
std::vector<int64_t> numbers_of(const RankRecord& record);
RankRecord record_from(const int64_t* value, int64_t peers);

// How many peers there are in so many numbers; nothing where a record cannot have as many.
std::optional<int64_t> peers_in(int64_t numbers);

}  // namespace ringcheck::parity
