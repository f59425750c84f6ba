// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// A whole number of [least, most], from wherever: a seed, RapidCheck, a search.
using Draw = std::function<int64_t(int64_t least, int64_t most)>;

// From a generator that the standard fixes: the same numbers on every machine.
Draw drawn_from(uint64_t seed);

// What each part of a case may be, in its text form, simplest first. A case is drawn in these
// terms wherever one is: by the profiles of the command, by laws and by searches.
struct Ranges {
  int64_t least_seq = 24, most_seq = 200;
  std::vector<int> worlds;
  std::vector<std::string> heads;  // "hq/hkv"
  std::vector<std::string> dims;   // "d/dv"
  // Of the sequence. divides: a multiple of twice the world; odd: of nothing; any; tail: up to
  // three granules of the balancer and any rest; granule, tile, also with +1 or -1: a multiple of
  // that, or one beside it.
  std::vector<std::string> lengths{"divides", "odd"};
  std::vector<int> blocks{1, 3, 16};  // of balancers that take one
  // ...:pads: some documents end in pads; ...:any: also a mask that reaches beyond the sequence,
  // documents without a token; window:edge: as wide as a shard, a sequence, or one beside that.
  std::vector<std::string> masks{"full",    "causal", "window",   "doc",
                                 "docfull", "prefix", "doc:pads", "docfull:pads"};
  std::vector<std::string> ropes{"none", "half[10000]", "interleaved[10000]",
                                 "half[500000,llama3]"};
  std::vector<std::string> scales{"default", "0.25", "0.0625"};
  std::vector<std::string> data;  // empty: all families
  std::vector<int> batches{1, 2};
};
Ranges smoke_ranges();
Ranges stress_ranges();
Ranges clean_ranges();
// Tiny cases for laws, on a device ("cpu", "cuda").
Ranges law_ranges(const std::string& device);
// Small cases at the edges of everything, worlds to `most_world`.
Ranges search_ranges(int most_world);

// Everything a case can be made of, as lists of choices; members of open families come from their
// registries.
class CaseSpace {
 public:
  // On a device ("cpu", "cuda") there are the kernels that run on it.
  CaseSpace(Ranges ranges, const std::string& device);

  // An index into the values of each factor.
  using Choice = std::vector<int>;
  Choice choose(const Draw& draw) const;
  // The case of a choice; what a choice leaves open (length, documents, parameters, seed) is
  // drawn. A kernel or strategy that cannot run it is replaced by one that can.
  Case build(const Choice& choice, const Draw& draw) const;

  struct Factor {
    std::string name;
    std::vector<std::string> values;
  };
  const std::vector<Factor>& factors() const { return factors_; }
  const std::string& value(const Choice& choice, const std::string& factor) const;

 private:
  Ranges ranges_;
  std::string device_;
  std::vector<Factor> factors_;
};

}  // namespace ringcheck::parity
