// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ringcheck::parity {

// A whole number of [least, most], from wherever: a seed, RapidCheck, a search.
using Draw = std::function<int64_t(int64_t least, int64_t most)>;

// From a generator that the standard fixes: the same numbers on every machine.
Draw drawn_from(uint64_t seed);

// What each part of a case may be, by name of the part and in its text form, simplest first; a part
// that is not named takes all its values. A case is drawn in these terms wherever one is: by the
// profiles of the command, by laws and by searches.
//
// heads are written "hq/hkv", dim "d/dv". seq says what the length is: divides, a multiple of twice
// the world; odd, of nothing; any; few, at most two tokens a rank; long, from most_seq to longest_seq;
// tail, up to three granules of the balancer and any rest; granule, tile, also with +1 or -1, a
// multiple of that, or one beside it. A mask ...:pads has documents that end in pads; ...:any reaches
// beyond the sequence, too, or has documents without a token; window:edge is as wide as a shard, a
// sequence, or one beside that. ...:piece has edges on those of the runs of positions in which ranks
// hold the sequence; ...:empty has a document without a token; ...:short has many.
struct Ranges {
  int64_t least_seq = 24, most_seq = 200, longest_seq = 200;
  int64_t most_work = 0;  // of work_of(): a longer sequence is drawn again, shorter; 0: no limit
  int64_t most_shapes = 0;  // of shapes_to_plan(): with more it gets a kernel that plans none; 0: no limit
  // Of so many batches one, at most, gets entries of different lengths; 0: none.
  int64_t padded_one_in = 0;
  std::map<std::string, std::vector<std::string>> of;
};
Ranges smoke_ranges();
Ranges stress_ranges();
// On a device: what GPUs do in seconds takes a CPU hours.
Ranges clean_ranges(const std::string& device);
// Tiny cases for laws, on a device ("cpu", "cuda").
Ranges law_ranges(const std::string& device);
// Small cases at the edges of everything, worlds to `most_world`.
Ranges search_ranges(int most_world);

}  // namespace ringcheck::parity
