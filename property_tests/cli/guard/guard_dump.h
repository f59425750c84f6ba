// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parity/case/safetensors.h"
#include "property_tests/cli/program.h"
#include "reference/mask.h"

namespace ringcheck::testing {

// Dumps of a right training step, and what the real command says of them: 4 query and 2 kv heads,
// 256 tokens, dim 32, scale 1/4, in bf16 or as asked.
class GuardTest : public ::testing::Test {
 protected:
  static constexpr int kShards = 4;
  GuardTest();

  void step(const Mask& mask, at::ScalarType dtype = at::kBFloat16);
  at::Tensor& operator[](const std::string& name);  // a tensor of its own

  Ran run(std::vector<std::string> words = {});  // one file
  // A file a rank, of 64 tokens, named in this order.
  Ran run_shards(std::vector<std::string> words = {}, const std::vector<int>& ranks = {0, 1, 2, 3});
  // The file of a rank, which says this of itself; its name.
  std::string write_shard(int rank, const std::map<std::string, std::string>& metadata) const;
  nlohmann::json result() const;                        // what --json `json` wrote
  std::string path(const std::string& name) const { return folder_.file(name + ".safetensors"); }

  // What is printed, its lines put together.
  static std::string words_of(const std::string& printed);

  Folder folder_;
  parity::Safetensors whole_;
};

}  // namespace ringcheck::testing
