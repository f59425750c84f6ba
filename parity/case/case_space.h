// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/case.h"
#include "parity/case/ranges.h"

namespace ringcheck::parity {

// What the reference computes for a task, about: pairs of positions times channels. At most 2^62.
int64_t work_of(const Task& task);

// The calls of a kernel that make up a case of ours whose shards are these: of each block, one for the entries of each length that
// are neighbours. The same for every kernel, also for one that is not on this machine.
std::vector<std::vector<BlockShape>> calls_by_block(const Case& test, const Layout& layout);

// About how many shapes a library has to plan before it computes them, each process for each of its GPUs: those of a case's
// strips, for kernels of cuDNN, which takes some hundredths of a second for a shape and pass. 0 for any other kernel.
int64_t shapes_to_plan(const Case& test);

// Gives it more heads, as many as it takes that its strategy can deal them to its ranks.
void deal_heads(Case& test);

// Everything a case can be made of, as lists of choices: a factor for each part that is drawn, by
// its name, with the values that the ranges name, or all.
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
