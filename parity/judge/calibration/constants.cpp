// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/calibration/constants.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

double rounded(double value) { return std::round(value * 100) / 100; }

double power_of_two(const json& exponent) {
  return exponent.is_null() ? 0 : std::ldexp(1.0, exponent.get<int>());
}

bool has_own_backward(const json& contract, const std::string& dtype) {
  return contract.contains("backward") && contract.at("backward").contains(dtype);
}

// Whether P reaches dV, and dV us, as wide as they were computed.
bool shows_exponential(const json& backward) {
  const double u_a = power_of_two(backward.at("u_a"));
  return power_of_two(backward.at("u_p")) <= u_a && power_of_two(backward.at("u_m")) <= u_a;
}

void hold(const std::string& who, const char* what, double found, double promised) {
  if (!(found <= promised))
    throw BadCase(c10::str(who, " ", what, " ", found, ", more than the ", promised,
                              " of its contract; correct the contract first"));
}

// All that was measured of a constant, and what stands where an architecture lacks it.
std::vector<double> all_of(const json& contract, const std::string& dtype, const char* name,
                           double standing) {
  std::vector<double> values;
  for (const auto& [architecture, dtypes] : contract.at("measured").items()) {
    const json measured = dtypes.value(dtype, json::object());
    const bool on_cpu = architecture == "cpu" && std::string(name) == "kappa";
    values.push_back(on_cpu ? 1 : measured.value(name, standing));
  }
  return values;
}

void take(json& constants, const json& contract, const std::string& dtype, const char* c_e) {
  const double largest = std::ranges::max(all_of(contract, dtype, c_e, constants.at("c_e")));
  constants["c_e"] = std::exp2(std::ceil(std::log2(std::max(1.0, largest))));
}

}  // namespace

json measured_in(const std::string& dtype, const Arithmetic& found, const json& contract) {
  const std::string who = "kernel " + contract.at("kernel").get<std::string>() + " in " + dtype;
  const json& forward = contract.at("dtypes").at(dtype);
  const bool own = has_own_backward(contract, dtype);
  const json& backward = own ? contract.at("backward").at(dtype) : forward;
  const double unit = found.roundoff();
  hold(who, "adds up with roundoff", unit, power_of_two(forward.at("u_a")));
  if (found.chops && !forward.contains("chops_after"))
    throw BadCase(who + " chops its sums, which its contract does not say; correct the contract first: chops_after");
  json measured{{"sum_bits", found.bits}, {"chops", found.chops},
                {"lse_error", rounded(found.lse_error)}, {"c_e", rounded(found.exp_error)}};
  if (power_of_two(forward.at("u_m")) <= power_of_two(forward.at("u_a")))
    measured["kappa"] = found.kappa;
  const bool shown = shows_exponential(backward);
  if (shown && own) measured["backward_c_e"] = rounded(found.backward_exp_error);
  if (shown && !own) measured["c_e"] = rounded(std::max(found.exp_error, found.backward_exp_error));
  const auto in_units_of = [&](const json& pass) { return unit / power_of_two(pass.at("u_a")); };
  hold(who, "exponentiates with c_e", measured.at("c_e").get<double>() * in_units_of(forward),
       forward.at("c_e"));
  if (measured.contains("backward_c_e"))
    hold(who, "exponentiates backward with c_e",
         measured.at("backward_c_e").get<double>() * in_units_of(backward), backward.at("c_e"));
  return measured;
}

void take_constants(json& contract) {
  for (auto& [dtype, constants] : contract.at("dtypes").items()) {
    take(constants, contract, dtype, "c_e");
    constants["kappa"] = std::ranges::min(all_of(contract, dtype, "kappa", constants.at("kappa")));
    if (has_own_backward(contract, dtype))
      take(contract.at("backward").at(dtype), contract, dtype, "backward_c_e");
  }
}

void promise_constants(const json& contract, at::ScalarType dtype, Promise& promise) {
  const auto set = [](reference::Contract& into, const json& constants) {
    into.c_e = constants.at("c_e");
    into.kappa = constants.at("kappa");
  };
  const std::string name = dtype_text(dtype);
  set(promise.contract, contract.at("dtypes").at(name));
  if (promise.backward_contract) set(*promise.backward_contract, contract.at("backward").at(name));
}

}  // namespace ringcheck::parity
