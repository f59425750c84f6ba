// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/case.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cp/attention/context_parallel.h"
#include "cp/device/cuda_library.h"
#include "parity/case/balance/own_balance.h"
#include "parity/case/part.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

// What a piece without a prefix may be.
std::vector<std::string> pieces() {
  std::vector<std::string> all;
  for (const Part& row : parts())
    if (row.claims && row.prefix.empty() && row.values)
      for (const std::string& value : row.values())
        if (row.claims(value)) all.push_back(value);
  return all;
}

// The part that a piece of text belongs to.
const Part& part_of(const std::string& piece) {
  for (const Part& row : parts())
    if (row.claims && piece.starts_with(row.prefix) &&
        row.claims(std::string_view(piece).substr(row.prefix.size())))
      return row;
  const std::string meant = nearest(piece, pieces());
  throw BadCase("case has a part '" + piece + "' that means nothing; " +
                (meant.empty() ? "" : "did you mean '" + meant + "'? ") + "say it in the form "
                "ring:ROTATION/BALANCER/KERNEL/MASK/thread|mpi/cpu|cuda/P4/b1/hq8/hkv2/s1024/d64/dv64/"
                "bf16/rope:none/scale:default/spread3/seed7");
}

// A whole number, where the text is just that.
nlohmann::json number_or_text(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return text;
}

}  // namespace

std::string to_text(const Case& test) {
  std::string text;
  for (const Part& row : parts()) {
    const std::string value = row.claims ? row.print(test) : "";
    if (!value.empty()) text += (text.empty() ? "" : "/") + row.prefix + value;
  }
  return text;
}

Case parse_case(const std::string& text) {
  Case test;
  std::set<std::string> said;
  for (const std::string& piece : split(text, '/')) {
    const Part& row = part_of(piece);
    row.parse(test, piece.substr(row.prefix.size()));
    if (!said.insert(row.name).second)
      throw BadCase("case '" + text + "' says its " + row.option + " twice, the second time '" +
                    piece + "'; leave one of them out");
  }
  follow(test, said);
  validate(test);
  return test;
}

nlohmann::json to_json(const Case& test) {
  nlohmann::json json = nlohmann::json::object();
  for (const Part& row : parts())
    if (const std::string value = row.print(test); !value.empty())
      json[row.name] = number_or_text(value);
  json["subject"] = test.subject;
  return json;
}

Case case_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw BadCase("case in JSON: want an object of its parts");
  Case test;
  std::set<std::string> said;
  for (const Part& row : parts()) {
    const auto found = json.find(row.name);
    if (found == json.end()) continue;
    if (!found->is_string() && !found->is_number_unsigned())
      throw BadCase("case in JSON: part " + row.name + " is " + found->dump() +
                    "; want a text or a whole number");
    row.parse(test, found->is_string() ? found->get<std::string>() : found->dump());
    said.insert(row.name);
  }
  for (const auto& [name, value] : json.items())
    if (!said.contains(name)) throw BadCase("case in JSON: a case has no part " + name);
  follow(test, said);
  validate(test);
  return test;
}

Mask mask_of(const Task& task) { return {task.mask, task.seq}; }

double scale_of(const Task& task) {
  return task.scale.value_or(1 / std::sqrt(static_cast<double>(task.dim)));
}

int64_t slots_of(const Documents& documents) {
  int64_t slots = 0;
  for (const Document& document : documents) slots += document.slots;
  return slots;
}

at::DeviceType device_type_of(const Place& place) {
  return place.device == "cuda" ? at::kCUDA : at::kCPU;
}

bool any_on_cuda(const std::vector<Case>& cases) {
  for (const Case& test : cases)
    if (device_type_of(test) == at::kCUDA) return true;
  return false;
}

Layout layout_of(const Case& test) {
  if (cuts_itself(test)) return OwnBalances::at(parse_call(test.subject).name)(test);
  return ringcheck::layout_of(Balancers::at(test.balance), {mask_of(test), test.block}, test.world);
}

Plan plan_of(const Case& test) {
  return {layout_of(test),
          {mask_of(test), scale_of(test)},
          AttentionKernels::at(test.kernel),
          test.arguments,
          merge_to,
          Rotations::at,
          test.lengths};
}

Case representative(Case test) {
  test.arguments = Strategies::at(test.strategy).representative(test.arguments);
  return test;
}

BlockShape block_shape(const Case& test) {
  BlockShape shape;
  if (test.device == "cuda") shape.device = at::Device(at::kCUDA, 0);
  shape.dtype = test.dtype;
  shape.batch = test.batch;
  shape.q_heads = test.q_heads;
  shape.kv_heads = test.kv_heads;
  shape.dim = test.dim;
  shape.dim_v = test.dim_v;
  return shape;
}

std::optional<std::string> not_supported(const Case& test, const Plan& plan) {
  return refuses(Strategies::at(test.strategy), plan, block_shape(test));
}

std::optional<std::string> not_supported(const Case& test) {
  if (test.device == "cuda" && why_no_cuda()) return why_no_cuda();
  return not_supported(test, plan_of(test));
}

}  // namespace ringcheck::parity
