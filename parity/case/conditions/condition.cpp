// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/conditions/condition.h"

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

using Words = std::vector<std::string>;

Condition value_of(const std::string& part, const std::string& value) {
  return {part + " " + value, Condition::Rank::kUsual,
          [=](const Facts& f) { return f.traits.at(part) == value; }, part};
}

Words kernels_of(const std::string& device) {
  Case probe;
  probe.device = device;
  return kernels_on(device_type_of(probe));
}

}  // namespace

Conditions values_of_parts(const std::string& device) {
  const std::pair<std::string, Words> parts[] = {
      {"mask", {"full", "causal", "window", "doc", "docfull", "prefix"}},
      {"balance", part("balance").values()},
      {"strategy", part("strategy").values()},
      {"dtype", part("dtype").values()},
      {"kernel", kernels_of(device)},
      {"world", {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {"rope", {"none", "half", "interleaved", "half, llama3", "interleaved, llama3"}},
      {"data", part("data").values()},
      {"world_kind", part("world_kind").values()}};
  Conditions rows;
  for (const auto& [name, values] : parts)
    for (const std::string& value : values)
      rows.push_back(value_of(name, value));
  return rows;
}

Conditions conditions_of(const std::string& device) {
  Conditions all;
  for (const Conditions& rows : {values_of_parts(device), shape_conditions(device),
                                 sequence_conditions(), mask_conditions()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace ringcheck::parity
