// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ringcheck::cli {

// The attention of a published model, in the words of a case.
struct Model {
  std::string heads, kv_heads, dim, dim_v, rope;
  std::vector<std::string> masks;
  std::string note;  // what of it is left out here
  int layers;
  std::string planned = {};  // what a plan of it leaves out
};
const std::map<std::string, Model>& models();
// What --model names. Throws UsageError where nobody has that name.
const Model& model_named(const std::string& name);

}  // namespace ringcheck::cli
