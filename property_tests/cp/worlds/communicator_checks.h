// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cp/worlds/communicator.h"

// What every Communicator must do, whatever carries its messages. All ranks of the group run the
// same check; it says what was wrong on this rank, "" where nothing was.
namespace ringcheck::checks {

// exchange(to r + shift, from r - shift) delivers every bit.
std::string exchange_delivers(Communicator& comm, int shift, int64_t elements,
                              at::ScalarType dtype);
// Several posted messages of one pair of ranks match in the order of posting, waited for in any.
std::string messages_match_in_posting_order(Communicator& comm, int messages);
// The same where one transfer has several messages for one rank.
std::string messages_of_one_transfer_match_in_order(Communicator& comm);
std::string pieces_arrive_in_their_places(Communicator& comm);
std::string messages_to_oneself_match_in_order(Communicator& comm);
// gathered[r] is what rank r holds.
std::string all_gather_collects(Communicator& comm, int64_t elements);
// The same into slices of one buffer; the ledger has a line for each message that it stands for.
std::string all_gather_fills_one_buffer(Communicator& comm, int64_t elements);
// receives[r] is sends[me] of rank r; undefined and empty tensors are no messages.
std::string all_to_all_delivers(Communicator& comm, uint64_t seed);
// ((p_0 + p_1) + ...) + p_{P-1} of parts[me], bit for bit.
std::string reduce_scatter_adds_in_rank_order(Communicator& comm, uint64_t seed);
// The maximum of all ranks, on all ranks, of integers and of floats.
std::string agreement_is_the_maximum(Communicator& comm, uint64_t seed);
// A send buffer may be overwritten after wait(), and what was received stays.
std::string buffers_are_free_after_wait(Communicator& comm);
// A dropped Pending does not block, and finish() completes what it posted.
std::string a_dropped_transfer_completes(Communicator& comm);
// Bytes and messages between ranks are counted in a phase, once, under the peer's world rank.
std::string ledger_counts_messages(Communicator& comm, uint64_t seed);
// colors[r] and keys[r] of rank r of `comm`: groups are ordered by key, then rank, and apart.
std::string split_orders_by_key(Communicator& comm, const std::vector<int>& colors,
                                const std::vector<int>& keys);

}  // namespace ringcheck::checks
