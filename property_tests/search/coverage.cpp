// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/coverage.h"

#include <nlohmann/json.hpp>

#include "parity/case/text.h"

namespace ringcheck::search {
namespace {

using parity::Case;

const char* const kWorst = "owner of worst element";
const std::vector<std::string> kRemainders{"none", "one over", "one short", "other"};

std::string name_of_mask(const Case& test) {
  return parity::parse_call(parity::mask_text(test.mask)).name;
}

std::string remainder(int64_t length, int64_t unit) {
  const int64_t rest = length % unit;
  if (rest == 0)
    return kRemainders[0];
  if (rest == 1)
    return kRemainders[1];
  return rest == unit - 1 ? kRemainders[2] : kRemainders[3];
}

std::string pads(const Case& test) {
  const Mask mask = parity::mask_of(test);
  const Documents* packed = documents(mask);
  if (packed == nullptr)
    return "no documents";
  bool pads = false, empty = false;
  for (const Document& document : *packed) {
    pads = pads || document.length < document.slots;
    empty = empty || document.length == 0;
  }
  return empty ? "a document without tokens" : pads ? "documents with pads" : "whole documents";
}

std::string balancer(const Case& test) {
  return test.balance + (Balancers::at(test.balance).takes_block
                             ? "[" + std::to_string(test.block) + "]"
                             : std::string());
}

// The rank that owns the largest z of all tensors.
int owner_of_worst(const parity::Verdict& verdict) {
  double most = 0;
  int rank = -1;
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    for (const parity::TensorVerdict& tensor : oracle.tensors)
      if (tensor.max_z > most && tensor.worst_rank >= 0)
        most = tensor.max_z, rank = tensor.worst_rank;
  return rank;
}

// The cells that a value of a factor of the space leads to, whatever else is drawn.
std::vector<Cell> required_by(const std::string& factor, const std::string& value) {
  if (factor == "mask")
    return {{"mask", value.substr(0, value.find(':'))}};
  if (factor == "rope")
    return {{"RoPE", parity::parse_call(value).name}};
  if (factor == "heads") {
    const auto parts = parity::split(value, '/');
    return {{"query group",
             std::to_string(parity::parse_size(parts[0]) / parity::parse_size(parts[1]))}};
  }
  if (factor == "world" && parity::parse_size(value) > 2)
    return {{factor, value},
            {kWorst, "first rank"},
            {kWorst, "rank between"},
            {kWorst, "last rank"}};
  for (const char* same :
       {"world", "strategy", "balance", "kernel", "dtype", "data"})
    if (factor == same)
      return {{factor, value}};
  return {};
}

std::string place_of(int rank, int world) {
  if (world == 1)
    return "the only rank";
  if (rank == 0)
    return "first rank";
  return rank == world - 1 ? "last rank" : "rank between";
}

}  // namespace

std::vector<Cell> cells_of(const parity::Verdict& verdict) {
  const Case& c = verdict.test;
  const int64_t granule = Balancers::at(c.balance).granule(c.block, c.world);
  std::vector<Cell> cells{{"world", std::to_string(c.world)},
                          {"strategy", c.strategy + c.arguments},
                          {"balance", balancer(c)},
                          {"kernel", c.kernel},
                          {"mask", name_of_mask(c)},
                          {"pads", pads(c)},
                          {"dtype", parity::dtype_text(c.dtype)},
                          {"length against granule", remainder(c.seq, granule)},
                          {"length against 16", remainder(c.seq, 16)},
                          {"query group", std::to_string(c.q_heads / c.kv_heads)},
                          {"data", c.data}};
  cells.emplace_back("RoPE", c.rope.pairing == Rope::Pairing::kNone          ? "none"
                             : c.rope.pairing == Rope::Pairing::kInterleaved ? "interleaved"
                                                                             : "half");
  if (const int rank = owner_of_worst(verdict); rank >= 0)
    cells.emplace_back(kWorst, place_of(rank, c.world));
  return cells;
}

Coverage::Coverage(const parity::CaseSpace& space) {
  for (const auto& factor : space.factors())
    for (const std::string& value : factor.values)
      for (const Cell& cell : required_by(factor.name, value))
        require(cell);
  for (const std::string& rest : kRemainders) {
    require({"length against granule", rest});
    require({"length against 16", rest});
  }
  for (const char* kind : {"documents with pads", "whole documents", "a document without tokens"})
    require({"pads", kind});
}

void Coverage::add(const parity::Verdict& verdict) {
  if (verdict.status != parity::Status::kPass && verdict.status != parity::Status::kFail)
    return;
  for (const auto& [what, which] : cells_of(verdict))
    ++count_[what][which];
}

std::vector<Cell> Coverage::missing() const {
  std::vector<Cell> cells;
  for (const auto& [what, counts] : count_)
    for (const auto& [which, count] : counts)
      if (count == 0)
        cells.emplace_back(what, which);
  return cells;
}

std::string Coverage::table() const {
  std::string text = "judged cases by\n";
  for (const auto& [what, counts] : count_) {
    text += "  " + what + std::string(what.size() < 24 ? 24 - what.size() : 1, ' ');
    for (const auto& [which, count] : counts)
      text += which + " " + std::to_string(count) + "   ";
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

nlohmann::json Coverage::json() const {
  nlohmann::json missing_cells = nlohmann::json::array();
  for (const auto& [what, which] : missing())
    missing_cells.push_back(what + ": " + which);
  return {{"schema_version", 1}, {"cells", count_}, {"missing", missing_cells}};
}

}  // namespace ringcheck::search
