// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "contract_texts.h"
#include "cp/device/cuda_library.h"
#include "cp/layout/strips_of_token.h"
#include "parity/case/case_space.h"
#include "parity/subject/contract.h"

namespace ringcheck::parity {

namespace {

// Charts by their cases as they are written today: a part that came after a chart was made has its usual value there.
nlohmann::json by_case(const nlohmann::json& charts) {
  nlohmann::json keyed = nlohmann::json::object();
  for (const auto& [text, chart] : charts.items()) keyed[chart_key(parse_case(text))] = chart;
  return keyed;
}

// By file name, parsed once.
const std::map<std::string, nlohmann::json>& contracts() {
  static const std::map<std::string, nlohmann::json> table = [] {
    std::map<std::string, nlohmann::json> parsed;
    for (const auto& [file, text] : contract_texts()) {
      nlohmann::json& contract = parsed[file] = nlohmann::json::parse(text);
      contract["charts"] = by_case(contract.at("charts"));
    }
    return parsed;
  }();
  return table;
}

// Written as powers of two: "u_a": -24 is 2^-24; null is zero.
reference::Contract constants(const nlohmann::json& c) {
  const auto power = [&](const char* name) {
    return c.at(name).is_null() ? 0.0 : std::ldexp(1.0, c.at(name).get<int>());
  };
  return {power("u_a"),   power("u_p"),  power("eta_p"), power("u_o"), power("eta_o"),
          power("eta_e"), power("u_in"), power("u_m"),   c.at("kappa"), c.at("c_e"),
          0,              c.value("scales_ds", false),         c.value("chops_after", 0.0)};
}

}  // namespace

const nlohmann::json& contract_json(const std::string& kernel) {
  const auto found = contracts().find(kernel + ".contract.json");
  if (found == contracts().end())
    throw BadCase("kernel " + kernel + " has no numerics contract; add " + kernel +
                  ".contract.json");
  return found->second;
}

reference::Contract contract_of(const Case& test) {
  const nlohmann::json& kernel = contract_json(test.kernel);
  const std::string dtype = dtype_text(test.dtype);
  if (!kernel.at("dtypes").contains(dtype))
    throw BadCase("the contract of kernel " + test.kernel + " does not cover " + dtype);
  return constants(kernel.at("dtypes").at(dtype));
}

std::optional<reference::Contract> backward_contract_of(const Case& test) {
  const nlohmann::json& kernel = contract_json(test.kernel);
  const std::string dtype = dtype_text(test.dtype);
  if (!kernel.contains("backward") || !kernel.at("backward").contains(dtype)) return std::nullopt;
  return constants(kernel.at("backward").at(dtype));
}

reference::Contracts contracts_of(const Case& test) {
  const reference::Contract forward = contract_of(test);
  return {forward, backward_contract_of(test).value_or(forward)};
}

int partials_of_a_call(const Case& test) {
  const nlohmann::json& kernel = contract_json(test.kernel);
  const auto found = kernel.find("long_triangles");
  if (found == kernel.end() || std::holds_alternative<Full>(test.mask)) return 1;
  const int64_t bytes = test.seq * (test.dim + test.dim_v) * static_cast<int64_t>(c10::elementSize(test.dtype));
  return bytes > found->at("above_bytes").get<int64_t>() ? found->at("partials").get<int>() : 1;
}

namespace {

bool partial_gradients_underflow(const reference::Contract& backward) {
  return backward.u_m > backward.u_a && backward.eta_o > 0;
}

// Entries of one length meet each block once, whether or not they are neighbours, which are computed together.
GradientPartials counted(const Case& test, const Layout& layout) {
  std::map<int64_t, StripsOfToken> of_length;
  for (const auto& calls : calls_by_block(test, layout)) {
    std::set<int64_t> met;
    for (const BlockShape& called : calls) {
      const int64_t length = called.visibility.mask().length;
      if (met.insert(length).second) of_length.try_emplace(length, length).first->second.add(called.visibility);
    }
  }
  int64_t dq = Strategies::at(test.strategy).partials(test.world), dkv = dq;
  for (const auto& [length, strips] : of_length) {
    dq = std::max(dq, strips.most_as_query());
    dkv = std::max(dkv, strips.most_as_key());
  }
  return {static_cast<int>(dq), static_cast<int>(dkv)};
}

}  // namespace

GradientPartials gradient_partials_of(const Case& test, const Layout& layout, const reference::Contract& backward) {
  return partial_gradients_underflow(backward) ? counted(test, layout) : GradientPartials{};
}

// Asked by every rank and oracle, and counted once.
GradientPartials gradient_partials_of(const Case& test) {
  static std::mutex mutex;
  static std::map<std::string, GradientPartials> known;
  const reference::Contract backward = contracts_of(test).backward;
  if (!partial_gradients_underflow(backward)) return {};
  const std::lock_guard lock(mutex);
  const std::string text = to_text(test);
  if (const auto found = known.find(text); found != known.end()) return found->second;
  return known[text] = gradient_partials_of(test, layout_of(test), backward);
}

reference::Contract loosest_contract(const std::set<at::ScalarType>& dtypes) {
  using C = reference::Contract;
  C loosest{0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  for (const auto& [file, kernel] : contracts())
    for (const auto& [dtype, values] : kernel.at("dtypes").items()) {
      if (dtypes.count(parse_dtype(dtype)) == 0) continue;
      const C one = constants(values);
      for (double C::*field : {&C::u_a, &C::u_p, &C::eta_p, &C::u_o, &C::eta_o, &C::eta_e,
                               &C::u_in, &C::u_m, &C::c_e})
        loosest.*field = std::max(loosest.*field, one.*field);
      loosest.scales_ds |= one.scales_ds;
      if (one.lost_of(1) > loosest.lost_of(1)) loosest.chops_after = one.chops_after;
    }
  return loosest;
}

reference::Contract merging_anyhow(reference::Contract contract) {
  contract.u_d = contract.u_a;
  return contract;
}

std::string chart_key(Case test) {
  test = representative(test);
  test.world_kind = "thread";
  test.seed = 0;
  return to_text(test);
}

std::map<std::string, Chart> charts_of(const Case& test) {
  const nlohmann::json& kernel = contract_json(test.kernel);
  const bool on_gpu = device_type_of(test) != at::kCPU;
  if (on_gpu && kernel.value("architecture", "") != gpu_architecture()) return {};
  const auto found = kernel.at("charts").find(chart_key(test));
  if (found == kernel.at("charts").end()) return {};
  std::map<std::string, Chart> charts;
  for (const auto& [tensor, c] : found->items())
    charts[tensor] = {c.at("rms_mean"), c.at("rms_sd"), c.at("bias_mean"), c.at("bias_sd")};
  return charts;
}

}  // namespace ringcheck::parity
