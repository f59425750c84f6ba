// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/files/promise_json.h"

#include <nlohmann/json.hpp>

namespace ringcheck::parity {
namespace {

using nlohmann::json;
using reference::Contract;

constexpr std::pair<const char*, double Contract::*> kConstants[] = {
    {"u_a", &Contract::u_a},     {"u_p", &Contract::u_p},     {"eta_p", &Contract::eta_p},
    {"u_o", &Contract::u_o},     {"eta_o", &Contract::eta_o}, {"eta_e", &Contract::eta_e},
    {"u_in", &Contract::u_in},   {"u_m", &Contract::u_m},     {"kappa", &Contract::kappa},
    {"c_e", &Contract::c_e},     {"u_d", &Contract::u_d},
    {"chops_after", &Contract::chops_after}};

constexpr std::pair<const char*, bool Contract::*> kChoices[] = {{"scales_ds", &Contract::scales_ds}};

constexpr std::pair<const char*, bool Promise::*> kFlags[] = {
    {"deterministic", &Promise::deterministic},
    {"by_strategy", &Promise::by_strategy},
    {"separate_passes", &Promise::separate_passes},
    {"autograd", &Promise::autograd},
    {"any_layout", &Promise::any_layout},
    {"lengths", &Promise::lengths}};

constexpr std::pair<const char*, double Chart::*> kCharts[] = {{"rms_mean", &Chart::rms_mean},
                                                               {"rms_sd", &Chart::rms_sd},
                                                               {"bias_mean", &Chart::bias_mean},
                                                               {"bias_sd", &Chart::bias_sd}};

constexpr std::pair<const char*, Promise::Counts> kCounts[] = {
    {"traffic", Promise::Counts::kTraffic},
    {"work", Promise::Counts::kWork},
    {"memory", Promise::Counts::kMemory}};

constexpr std::pair<const char*, int GradientPartials::*> kGradientPartials[] = {
    {"dq", &GradientPartials::dq}, {"dkv", &GradientPartials::dkv}};

template <class T, class Members>
json members_of(const T& value, const Members& members) {
  json object = json::object();
  for (const auto& [name, member] : members) object[name] = value.*member;
  return object;
}

template <class T, class Members>
void set_members(const json& object, const Members& members, T& value) {
  for (const auto& [name, member] : members) object.at(name).get_to(value.*member);
}

json json_of(const Contract& contract) {
  json object = members_of(contract, kConstants);
  object.update(members_of(contract, kChoices));
  return object;
}

Contract contract_from(json object) {
  Contract contract;
  object.emplace("u_d", contract.u_d);  // which older recordings lack
  object.emplace("chops_after", contract.chops_after);
  object.emplace("scales_ds", contract.scales_ds);
  set_members(object, kConstants, contract);
  set_members(object, kChoices, contract);
  return contract;
}

}  // namespace

json to_json(const Promise& promise) {
  json object = members_of(promise, kFlags);
  object["contract"] = json_of(promise.contract);
  if (promise.backward_contract) object["backward_contract"] = json_of(*promise.backward_contract);
  object["partials"] = promise.partials;
  object["gradient_partials"] = members_of(promise.gradient_partials, kGradientPartials);
  object["u_angle"] = promise.u_angle;
  object["shows"] = promise.shows;
  object["counts"] = json::array();
  for (const auto& [name, counts] : kCounts)
    if (promise.counts.contains(counts)) object["counts"].push_back(name);
  object["charts"] = json::object();
  for (const auto& [tensor, chart] : promise.charts)
    object["charts"][tensor] = members_of(chart, kCharts);
  return object;
}

Promise promise_from_json(const json& written) {
  Promise promise;
  json object = written;
  object.emplace("lengths", promise.lengths);  // which older recordings lack
  set_members(object, kFlags, promise);
  promise.contract = contract_from(object.at("contract"));
  if (object.contains("backward_contract"))
    promise.backward_contract = contract_from(object.at("backward_contract"));
  object.at("partials").get_to(promise.partials);
  if (object.contains("gradient_partials"))  // which older recordings lack
    set_members(object["gradient_partials"], kGradientPartials, promise.gradient_partials);
  object.at("u_angle").get_to(promise.u_angle);
  object.at("shows").get_to(promise.shows);
  const std::set<std::string> counted = object.at("counts");
  for (const auto& [name, counts] : kCounts)
    if (counted.contains(name)) promise.counts.insert(counts);
  for (const auto& [tensor, chart] : object.at("charts").items())
    set_members(chart, kCharts, promise.charts[tensor]);
  return promise;
}

}  // namespace ringcheck::parity
