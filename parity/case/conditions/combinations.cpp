// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/conditions/combinations.h"

#include <set>

namespace ringcheck::parity {
namespace {

using Rank = Condition::Rank;

bool is_crossed(const Condition& row) {
  static const std::set<std::string> parts{"mask", "balance", "strategy", "dtype", "kernel"};
  return parts.contains(row.part);
}

bool is_dangerous(const Condition& row) {
  return row.rank == Rank::kDangerous || row.rank == Rank::kWorst;
}

bool are_wanted_together(const Condition& a, const Condition& b) {
  if (!a.part.empty() && !b.part.empty())
    return a.part != b.part;
  const auto are = [&](const Condition& dangerous, const Condition& other) {
    return is_dangerous(dangerous) && (is_crossed(other) || other.rank == Rank::kWorst);
  };
  return are(a, b) || are(b, a);
}

// Values of parts, unless both are crossed: there are data that never tell.
bool are_wanted_quietly(const Condition& a, const Condition& b) {
  return !a.part.empty() && !b.part.empty() && !(is_crossed(a) && is_crossed(b));
}

}  // namespace

Combinations::Combinations(Conditions conditions) : conditions_(std::move(conditions)) {
  for (const Condition& a : conditions_) {
    crossed_.push_back(is_crossed(a));
    for (const Condition& b : conditions_) {
      wanted_.push_back(are_wanted_together(a, b));
      quiet_.push_back(are_wanted_quietly(a, b));
    }
  }
}

Combinations::Met Combinations::met_by(const Case& test) const {
  const Facts facts(test);
  Met met{{}, facts.telling};
  for (size_t i = 0; i < conditions_.size(); ++i)
    if ((facts.telling || !is_dangerous(conditions_[i])) && conditions_[i].holds(facts))
      met.all.push_back(static_cast<uint16_t>(i));
  return met;
}

void Combinations::each_pair(const Met& met, const std::function<void(size_t)>& visit) const {
  const std::vector<bool>& wanted = met.telling ? wanted_ : quiet_;
  for (size_t i = 0; i < met.all.size(); ++i)
    for (size_t j = i + 1; j < met.all.size(); ++j) {
      const size_t pair = met.all[i] * conditions_.size() + met.all[j];
      if (wanted_[pair] && wanted[pair])
        visit(pair);
    }
}

void Combinations::each_triple(const Met& met, const std::function<void(size_t)>& visit) const {
  for (const uint16_t worst : met.all) {
    if (conditions_[worst].rank != Rank::kWorst)
      continue;
    for (size_t i = 0; i < met.all.size(); ++i)
      for (size_t j = i + 1; j < met.all.size(); ++j)
        if (crossed_[met.all[i]] && crossed_[met.all[j]])
          visit(worst * pairs() + met.all[i] * conditions_.size() + met.all[j]);
  }
}

std::string Combinations::pair_text(size_t pair) const {
  return conditions_[pair / conditions_.size()].name + " with " +
         conditions_[pair % conditions_.size()].name;
}

}  // namespace ringcheck::parity
