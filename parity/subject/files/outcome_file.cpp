// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/files/outcome_file.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "parity/subject/rank_numbers.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

struct Member {
  const char* name;
  at::Tensor& (*of)(Outcome&);
};
constexpr Member kMembers[] = {
    {"o", [](Outcome& x) -> at::Tensor& { return x.tensors.o; }},
    {"lse", [](Outcome& x) -> at::Tensor& { return x.tensors.lse; }},
    {"dq", [](Outcome& x) -> at::Tensor& { return x.tensors.dq; }},
    {"dk", [](Outcome& x) -> at::Tensor& { return x.tensors.dk; }},
    {"dv", [](Outcome& x) -> at::Tensor& { return x.tensors.dv; }},
    {"q_rotated", [](Outcome& x) -> at::Tensor& { return x.q_rotated; }},
    {"k_rotated", [](Outcome& x) -> at::Tensor& { return x.k_rotated; }}};

const std::string kOther = "other.";  // before the names of further tensors
constexpr const char* kRanks = "ranks";

at::Tensor ranks_tensor(const std::vector<RankRecord>& ranks) {
  std::vector<int64_t> all;
  for (const RankRecord& rank : ranks) {
    const std::vector<int64_t> numbers = numbers_of(rank);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  const auto count = static_cast<int64_t>(ranks.size());
  return at::tensor(all, at::kLong).reshape({count, static_cast<int64_t>(all.size()) / std::max<int64_t>(1, count)});
}

std::vector<RankRecord> ranks_from(const at::Tensor& numbers) {
  if (numbers.dim() != 2 || numbers.scalar_type() != at::kLong)
    throw std::invalid_argument("its tensor 'ranks' is no matrix of whole numbers");
  std::vector<RankRecord> ranks;
  const auto each = static_cast<size_t>(numbers.size(1));
  try {
    for (int64_t rank = 0; rank < numbers.size(0); ++rank)
      ranks.push_back(record_from({numbers.const_data_ptr<int64_t>() + rank * numbers.size(1), each}));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("its tensor 'ranks' has ") + error.what());
  }
  return ranks;
}

// What the records say in words, by rank.
json words_of(const std::vector<RankRecord>& ranks) {
  json words = json::array();
  for (const RankRecord& rank : ranks) words.push_back(rank.unwaited);
  return words;
}

void add_words(const json& words, std::vector<RankRecord>& ranks) {
  const auto lists = words.get<std::vector<std::vector<std::string>>>();
  if (lists.size() != ranks.size())
    throw std::invalid_argument("its metadata 'unwaited' is of " + std::to_string(lists.size()) +
                                " ranks, its tensor 'ranks' of " + std::to_string(ranks.size()));
  for (size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].unwaited = lists[rank];
}

}  // namespace

Safetensors file_of(const Outcome& outcome) {
  Safetensors file;
  Outcome copy = outcome;
  for (const Member& member : kMembers)
    if (const at::Tensor& x = member.of(copy); x.defined()) file.tensors[member.name] = x.cpu();
  for (const auto& [name, x] : outcome.others)
    if (x.defined()) file.tensors[kOther + name] = x.cpu();
  file.tensors[kRanks] = ranks_tensor(outcome.ranks);
  file.metadata = {{"missing", json(outcome.missing).dump()},
                   {"withheld", json(outcome.withheld).dump()},
                   {"unwaited", words_of(outcome.ranks).dump()},
                   {"did_as_asked", json(outcome.did_as_asked).dump()}};
  return file;
}

Outcome outcome_from(const Safetensors& file) {
  Outcome outcome{};
  for (const auto& [name, x] : file.tensors)
    if (name.starts_with(kOther)) outcome.others[name.substr(kOther.size())] = x;
  for (const Member& member : kMembers)
    if (const auto found = file.tensors.find(member.name); found != file.tensors.end())
      member.of(outcome) = found->second;
  if (!file.tensors.contains(kRanks)) throw std::invalid_argument("it has no tensor 'ranks'");
  outcome.ranks = ranks_from(file.tensors.at(kRanks));
  const auto metadata = [&](const char* name) {
    const auto found = file.metadata.find(name);
    if (found == file.metadata.end())
      throw std::invalid_argument(std::string("it has no metadata '") + name + "'");
    return json::parse(found->second, nullptr, false);
  };
  try {
    outcome.missing = metadata("missing").get<std::vector<std::string>>();
    outcome.withheld = metadata("withheld").get<std::set<std::string>>();
    add_words(metadata("unwaited"), outcome.ranks);
    outcome.did_as_asked = metadata("did_as_asked").get<bool>();
  } catch (const json::exception& error) {
    throw std::invalid_argument(std::string("its metadata is not what it should be: ") + error.what());
  }
  return outcome;
}

}  // namespace ringcheck::parity
