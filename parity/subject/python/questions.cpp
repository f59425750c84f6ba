// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/questions.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "cp/ledger/bypass.h"
#include "parity/case/part.h"
#include "parity/subject/foreign/said.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

Said said_from(const json& object) {
  Said said;
  if (const auto& contract = object.at("contract"); !contract.is_null()) said.contract = contract.get<std::string>();
  object.at("partials").get_to(said.partials);
  object.at("u_angle").get_to(said.u_angle);
  object.at("deterministic").get_to(said.deterministic);
  said.lengths = object.value("lengths", false);  // which older packages do not say
  if (object.contains("sends")) object["sends"].get_to(said.sends);
  said.shows = object.at("shows").get<std::set<std::string>>();
  return said;
}

NamedTensors named(const RankInput& input) {
  const Problem& local = input.local;
  return {{"q", local.q}, {"k", local.k}, {"v", local.v}, {"d_o", local.d_o},
          {"positions", at::tensor(flatten(input.positions), at::kLong)}};
}

// By the names that Python gives them.
RankOutput output_of(std::map<std::string, at::Tensor> tensors) {
  return {.o = tensors["o"],   .lse = tensors["lse"], .dq = tensors["dq"],
          .dk = tensors["dk"], .dv = tensors["dv"],   .q_rotated = tensors["q"],
          .k_rotated = tensors["k"], .record = {}};
}

// Tensors of a kind that only some shapes have give way, and what still cannot be stays as it was.
Case changed(const Case& test, const json& parts) {
  Case other = test;
  other.world_kind = Case{}.world_kind;
  for (const auto& [name, value] : parts.items()) part(name).parse(other, value);
  for (const std::string& data : {other.data, Case{}.data}) try {
      other.data = data;
      validate(other);
      return other;
    } catch (const BadCase&) {
    }
  return test;
}

}  // namespace

json case_for_python(const Case& test) {
  json object{{"text", to_text(test)}, {"scale", scale_of(test)}};
  json& parts_of = object["parts"];
  for (const Part& part : parts()) parts_of[part.name] = part.print(test);
  return object;
}

Description describe(const Ask& ask, const Case& test) {
  const json said = ask({{"do", "describe"}, {"case", case_for_python(test)}});
  try {
    Description description;
    if (!said.at("refuses").is_null()) description.refusal = said["refuses"].get<std::string>();
    description.promise = promise_of(test, said_from(said.at("promise")));
    said.at("most_ranks").get_to(description.most_ranks);
    description.fitted = changed(test, said.at("fit"));
    return description;
  } catch (const json::exception& error) {
    throw BadCase("subject " + test.subject + " is described by " + said.dump() + ": " + error.what());
  }
}

Description Descriptions::of(const Case& test, const std::function<Description()>& ask) {
  const std::lock_guard lock(mutex_);
  const std::string text = to_text(test);
  if (const auto found = known_.find(text); found != known_.end()) return found->second;
  return known_.emplace(text, ask()).first->second;
}

json inputs_for_python(const std::vector<RankInput>& inputs, SharedMemory& memory) {
  NamedTensors tensors;
  for (const RankInput& input : inputs)
    for (auto& tensor : named(input)) tensors.push_back(std::move(tensor));
  const json list = packed(tensors, memory);
  const size_t each = list.size() / inputs.size();
  json ranks = json::array();
  for (auto first = list.begin(); first != list.end(); first += static_cast<int64_t>(each))
    ranks.push_back(json(std::vector<json>(first, first + static_cast<int64_t>(each))));
  return ranks;
}

RankOutput output_from_python(const json& list, SharedMemory& memory, at::Device device) {
  return output_of(unpacked(list, memory, device));
}

InputsInPlace::InputsInPlace(const RankInput& input) : tensors_(named(input)) {
  for (auto& [name, x] : tensors_) x = x.cpu();
}

json InputsInPlace::list() const { return in_place(tensors_); }

RankOutput output_in_place(const json& list, at::Device device) { return output_of(unpacked(list, device)); }

int64_t peak_from_python(const json& answer) {
  const json peak = answer.value("peak", json());  // which older packages do not say
  return peak.is_null() ? 0 : peak.get<int64_t>();
}

void book_messages(const json& messages) {
  const BypassingCall call("torch.distributed");
  for (const json& one : messages) {
    const int peer = one.at("peer");
    call.sends(peer, one.at("sent"));
    call.receives(peer, one.at("received"));
  }
}

}  // namespace ringcheck::parity
