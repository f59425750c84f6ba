// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/guard/guard_dump.h"

#include <ATen/ATen.h>

#include <sstream>

#include "property_tests/parity/case/generators.h"
#include "reference/attention.h"

namespace ringcheck::testing {

GuardTest::GuardTest() { step({Causal{}, 256}); }

void GuardTest::step(const Mask& mask, at::ScalarType dtype) {
  const auto drawn = [&](int64_t heads, uint64_t seed) {
    return normal({1, heads, 256, 32}, seed, dtype);
  };
  const reference::Inputs in{drawn(4, 1), drawn(2, 2), drawn(2, 3), drawn(4, 4), mask, 0.25};
  const reference::Tensors out = reference::naive_attention(in);
  whole_.tensors = {{"q", in.q},           {"k", in.k},           {"v", in.v},
                    {"do", in.d_o},        {"o", out.o.to(dtype)}, {"dq", out.dq.to(dtype)},
                    {"dk", out.dk.to(dtype)}, {"dv", out.dv.to(dtype)}, {"lse", out.lse.to(at::kFloat)}};
  whole_.metadata = {{"scale", "0.25"}};
}

at::Tensor& GuardTest::operator[](const std::string& name) {
  at::Tensor& tensor = whole_.tensors.at(name);
  tensor = tensor.clone();
  return tensor;
}

Ran GuardTest::run(std::vector<std::string> words) {
  parity::write_safetensors(path("whole"), whole_);
  words.insert(words.begin(), {"guard", path("whole")});
  return ringcheck(words);
}

Ran GuardTest::run_shards(std::vector<std::string> words, const std::vector<int>& ranks) {
  words.insert(words.begin(), "guard");
  for (const int rank : ranks)
    words.push_back(write_shard(rank, {{"rank", std::to_string(rank)}, {"world", "4"}}));
  return ringcheck(words);
}

std::string GuardTest::write_shard(int rank, const std::map<std::string, std::string>& metadata) const {
  parity::Safetensors shard{{}, {{"scale", "0.25"}}};
  for (const auto& [name, value] : metadata) shard.metadata[name] = value;
  for (const auto& [name, tensor] : whole_.tensors)
    shard.tensors[name] = tensor.narrow(2, 64 * rank, 64).clone();
  parity::write_safetensors(path(std::to_string(rank)), shard);
  return path(std::to_string(rank));
}

std::string GuardTest::words_of(const std::string& printed) {
  std::istringstream words(printed);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

nlohmann::json GuardTest::result() const {
  return nlohmann::json::parse(read_text(folder_.file("json"))).at("guard");
}

}  // namespace ringcheck::testing
