// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/climb.h"

#include <algorithm>

#include "property_tests/search/recurrence.h"

namespace ringcheck::search {
namespace {

constexpr int64_t kRoll = int64_t{1} << 40;

// A case as what it was drawn from, which can be changed piece by piece.
struct Genes {
  parity::CaseSpace::Choice choice;
  std::vector<int64_t> rolls;  // behind the numbers that a choice leaves open, over and over
};

parity::Draw replayed(const std::vector<int64_t>& rolls) {
  return [rolls, next = size_t{0}](int64_t least, int64_t most) mutable {
    const int64_t lap = static_cast<int64_t>(next / rolls.size());
    return least + (rolls[next++ % rolls.size()] + lap) % (most - least + 1);
  };
}

Genes drawn(const parity::CaseSpace& space, const parity::Draw& draw) {
  Genes genes{space.choose(draw), std::vector<int64_t>(12)};
  for (int64_t& roll : genes.rolls)
    roll = draw(0, kRoll);
  return genes;
}

// Another value of one factor, or another number: a near one or any.
Genes changed(const parity::CaseSpace& space, Genes genes, const parity::Draw& draw) {
  if (draw(0, 2) > 0) {
    std::vector<size_t> open;
    for (size_t i = 0; i < space.factors().size(); ++i)
      if (space.factors()[i].values.size() > 1)
        open.push_back(i);
    const size_t factor = open[static_cast<size_t>(draw(0, static_cast<int64_t>(open.size()) - 1))];
    const auto last = static_cast<int64_t>(space.factors()[factor].values.size()) - 1;
    const int64_t near = genes.choice[factor] + draw(-1, 1);
    genes.choice[factor] =
        static_cast<int>(draw(0, 1) == 0 ? std::clamp<int64_t>(near, 0, last) : draw(0, last));
    return genes;
  }
  int64_t& roll = genes.rolls[static_cast<size_t>(draw(0, 3))];
  roll = draw(0, 1) == 0 ? draw(0, kRoll) : std::max<int64_t>(0, roll + draw(-8, 8));
  return genes;
}

}  // namespace

Hardness hardness_of(const parity::Verdict& verdict) {
  Hardness most;
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    for (const parity::TensorVerdict& tensor : oracle.tensors) {
      most.hard_ratio = std::max(most.hard_ratio, tensor.hard_ratio);
      if (tensor.max_z > most.max_z)
        most.max_z = tensor.max_z, most.tensor = tensor.tensor;
    }
  return most;
}

Climbed climb(const parity::CaseSpace& space, uint64_t seed, int steps, const Verify& verify) {
  const parity::Draw draw = parity::drawn_from(seed);
  Climbed climbed;
  Genes best;
  while (climbed.run < steps && !climbed.failed) {
    const bool at_random = climbed.run < std::max(1, steps / 3);
    const Genes genes = at_random ? drawn(space, draw) : changed(space, best, draw);
    const parity::Verdict verdict = verify(space.build(genes.choice, replayed(genes.rolls)));
    const Hardness hardness = hardness_of(verdict);
    climbed.failed = fails(verdict);
    if (climbed.failed || climbed.run == 0 || hardness.max_z >= climbed.hardness.max_z) {
      climbed.worst = verdict;
      climbed.hardness = hardness;
      best = genes;
    }
    ++climbed.run;
  }
  return climbed;
}

}  // namespace ringcheck::search
