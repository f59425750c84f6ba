// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/plan/figures.h"
#include "cli/plan/timing.h"

// What context parallelism costs by how many ranks share a sequence, and by which strategy.
namespace ringcheck::cli {

struct Question {
  Attention layer;
  int64_t layers, ranks;  // at most so many
  double memory;          // bytes of a rank for K and V of all layers and one layer at work
  Hosts hosts;
};

// A strategy on so many ranks, by the kernel that is fastest there.
struct Choice {
  std::string strategy, kernel = {};
  std::string refused = {};  // why it cannot; then the rest is unknown
  bool measured = false;     // its figures were found by runs of it, if of fewer ranks
  double layer = 0;          // bytes of a rank while a layer is at work
  double sent = 0;           // bytes of a rank in both passes of a layer
  LayerSeconds seconds = {};
  double eta = 0;            // of both passes: one rank's time over that of all ranks
};

struct Degree {
  int64_t ranks;
  double kept;                  // bytes of a rank: K and V of all layers
  std::vector<Choice> choices;  // of every strategy, those that can first, the fastest first of them

  double needs(const Choice& choice) const { return kept + choice.layer; }
  // The fastest that fits, or nothing.
  const Choice* best(double memory) const;
};

// Of every divisor of the ranks, ascending.
std::vector<Degree> degrees_of(const Question& question, const Figures& figures);

// How far the model is off, of what it was found by: |predicted / measured - 1| of both passes.
struct Checked {
  Timed timed;
  double predicted, measured;  // s of both passes
  double off() const;
};
std::vector<Checked> checked(const Figures& figures);

}  // namespace ringcheck::cli
