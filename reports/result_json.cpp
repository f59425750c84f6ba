// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The Result model to JSON and back.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "reports/envelope.h"
#include "reports/journal.h"
#include "reports/result.h"

namespace ringcheck::reports {

using nlohmann::json;

// Found by nlohmann/json through the types of this namespace.

void to_json(json& j, const Status& verdict) { j = to_text(verdict); }
void from_json(const json& j, Status& verdict) { verdict = parse_status(j.get<std::string>()); }

void to_json(json& j, const Figure& figure) {
  if (std::isfinite(figure.value))
    j = figure.value;
  else if (std::isnan(figure.value))
    j = "nan";
  else
    j = figure.value > 0 ? "inf" : "-inf";
}

void from_json(const json& j, Figure& figure) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (j.is_number())
    figure = j.get<double>();
  else if (j == "nan")
    figure = std::numeric_limits<double>::quiet_NaN();
  else if (j == "inf")
    figure = kInfinity;
  else if (j == "-inf")
    figure = -kInfinity;
  else
    throw std::invalid_argument("want a number, \"nan\", \"inf\" or \"-inf\", not " + j.dump());
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorResult, tensor, verdict, max_abs, relative, rms_z, max_z,
                                   hard_ratio, bias, vacuity, chunks, chunks_counted, chart, bias_verdict,
                                   worst)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OracleResult, name, verdict, contract, tensors, findings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassSeconds, attention, communication, exposed, overlapped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counted, bytes_sent, bytes_received, messages, pairs, flops, steps,
                                   merges)

NLOHMANN_JSON_SERIALIZE_ENUM(Event::What, {{Event::What::kAttend, "attend"},
                                           {Event::What::kMerge, "merge"},
                                           {Event::What::kSend, "send"},
                                           {Event::What::kReceive, "receive"}})

// Each has what its kind of event has.
void to_json(json& j, const Event& event) {
  j = {{"what", event.what}, {"begin", event.begin}, {"end", event.end}};
  if (event.what == Event::What::kAttend) j.update({{"pairs", event.pairs}, {"flops", event.flops}});
  if (event.what == Event::What::kSend || event.what == Event::What::kReceive)
    j.update({{"peer", event.peer}, {"bytes", event.bytes}, {"step", event.step},
              {"operation", event.operation}});
}
void from_json(const json& j, Event& event) {
  event.what = j.at("what");
  if (json(event.what) != j.at("what"))
    throw std::invalid_argument("want attend, merge, send or receive, not " + j.at("what").dump());
  event.begin = j.at("begin");
  event.end = j.at("end");
  event.pairs = j.value("pairs", int64_t{0});
  event.flops = j.value("flops", int64_t{0});
  event.bytes = j.value("bytes", int64_t{0});
  event.step = j.value("step", -1);
  event.peer = j.value("peer", -1);
  event.operation = j.value("operation", "");
}

namespace {

bool is_count(const json& number) {
  if (number.is_number_unsigned()) return number.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  return number.is_number_integer() && number.get<int64_t>() >= 0;
}

// All numbers of a rank, and of a pass or a call beside its seconds, are counts: read as integers, 2.5 would become 2,
// and 1e30 anything.
void check_count(const std::string& name, const json& value) {
  if (value.is_number() && !is_count(value))
    throw std::invalid_argument(name + " is " + value.dump() + "; want a whole number from 0 to 9223372036854775807");
}
void check_counts(const json& of) {
  for (const auto& [name, value] : of.items())
    if (value.is_array())
      for (const json& one : value) check_count(name, one);
    else check_count(name, value);
}

}  // namespace

// Earlier results have no seconds, or not what was computed or overlapped; events are there where they were wanted.
void to_json(json& j, const PassCounters& pass) {
  to_json(j, static_cast<const Counted&>(pass));
  j["seconds"] = pass.seconds;
  j["computed"] = pass.computed;
  if (pass.overlapped) j["overlapped"] = *pass.overlapped;
  if (!pass.events.empty()) j["events"] = pass.events;
}
void from_json(const json& j, PassCounters& pass) {
  check_counts(j);
  from_json(j, static_cast<Counted&>(pass));
  if (j.contains("seconds")) pass.seconds = j.at("seconds");
  if (j.contains("computed")) pass.computed = j.at("computed");
  if (j.contains("overlapped")) pass.overlapped = j.at("overlapped").get<int64_t>();
  if (j.contains("events")) pass.events = j.at("events").get<std::vector<Event>>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Environment, version, commit, libtorch, mpi, compiler, host, cpu,
                                   system, launcher, transport, device, command, started, cores,
                                   wall_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Summary, cases, passed, failed, not_supported, skipped,
                                   inconclusive, hang, crash)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CallTraffic, bytes_sent, bytes_received, messages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankCounted, rank, peak_bytes, kv_bytes, traveller_bytes,
                                   wrong_pads, forward, backward, sent_to, received_from)

// Earlier results know nothing of the whole call.
void to_json(json& j, const RankResult& rank) {
  to_json(j, static_cast<const RankCounted&>(rank));
  j["call"] = rank.call;
}
void from_json(const json& j, RankResult& rank) {
  check_counts(j);
  from_json(j, static_cast<RankCounted&>(rank));
  if (!j.contains("call")) return;
  check_counts(j.at("call"));
  rank.call = j.at("call");
}

namespace {

// What no run can have written.
void demand_possible(const CaseResult& test) {
  const auto refuse = [&](const std::string& what) { throw std::invalid_argument("case '" + test.name + "' " + what); };
  if (test.seconds < 0) refuse("took " + std::to_string(test.seconds) + " s; want 0 or more");
  std::set<int> ranks;
  for (const RankResult& rank : test.ranks)
    if (!ranks.insert(rank.rank).second) refuse("has rank " + std::to_string(rank.rank) + " twice; want each once");
  if (test.verdict != Status::kPass) return;
  for (const OracleResult& oracle : test.oracles)
    if (oracle.verdict == Status::kFail) refuse("passes, and its oracle " + oracle.name + " fails; want the verdict that follows from its oracles");
}

}  // namespace

// Earlier results do not say who judged what; nothing turns without RoPE.
void to_json(json& j, const CaseResult& test) {
  j = {{"name", test.name}, {"group", test.group}, {"verdict", test.verdict},
       {"reason", test.reason}, {"reproduce", test.reproduce}, {"seconds", test.seconds},
       {"parts", test.parts}, {"oracles", test.oracles}, {"judged", test.judged},
       {"ranks", test.ranks}, {"findings", test.findings}, {"log", test.log}};
  if (!test.explained.empty()) j["explained"] = test.explained;
  if (test.float32_angles_off) j["float32_angles_off"] = *test.float32_angles_off;
}
void from_json(const json& j, CaseResult& test) {
  test.name = j.at("name");
  test.group = j.at("group");
  test.verdict = j.at("verdict");
  test.reason = j.at("reason");
  test.reproduce = j.at("reproduce");
  test.seconds = j.at("seconds");
  test.parts = j.at("parts").get<std::map<std::string, std::string>>();
  test.oracles = j.at("oracles").get<std::vector<OracleResult>>();
  if (j.contains("judged"))
    test.judged = j.at("judged").get<std::map<std::string, std::vector<std::string>>>();
  if (j.contains("float32_angles_off"))
    test.float32_angles_off = j.at("float32_angles_off").get<Figure>();
  test.ranks = j.at("ranks").get<std::vector<RankResult>>();
  if (j.contains("explained")) test.explained = j.at("explained").get<std::vector<std::string>>();
  test.findings = j.at("findings").get<std::vector<std::string>>();
  test.log = j.at("log");
  demand_possible(test);
}

// A limit is absent where there is none.
void to_json(json& j, const Measurement& one) {
  j = {{"name", one.name}, {"parts", one.parts}, {"unit", one.unit}, {"samples", one.samples},
       {"better", one.better}};
  if (one.limit) j["limit"] = *one.limit;
}
void from_json(const json& j, Measurement& one) {
  one = {j.at("name"), j.at("parts"), j.at("unit"), {}, j.at("better"), {}};
  one.samples = j.at("samples").get<std::vector<Figure>>();
  if (j.contains("limit")) one.limit = j.at("limit").get<Figure>();
}

void to_json(json& j, const Result& result) {
  j = envelope(result.kind, result.environment);
  if (has_cases(result.kind)) {
    j["summary"] = result.summary;
    j["cases"] = result.cases;
  }
  j["measurements"] = result.measurements;
}

namespace {

// A part of a result, which names itself where it is wrong.
template <class Type>
Type part(const json& j, const std::string& name) {
  try {
    return j.get<Type>();
  } catch (const std::exception& error) {
    throw std::invalid_argument(name + ": " + words_of(error));
  }
}

template <class Type>
std::vector<Type> parts(const json& j, const std::string& name) {
  if (!j.is_array()) throw std::invalid_argument(name + ": want a list");
  std::vector<Type> all;
  for (const json& one : j) all.push_back(part<Type>(one, name + " " + std::to_string(all.size() + 1)));
  return all;
}

}  // namespace

void from_json(const json& j, Result& result) {
  result.schema_version = j.at("schema_version");
  result.kind = kind_of(j);
  const json& environment = j.at("environment");
  if (environment.contains("cores")) check_count("environment: cores", environment.at("cores"));
  result.environment = part<Environment>(environment, "environment");
  if (has_cases(result.kind)) {
    result.summary = part<Summary>(j.at("summary"), "summary");
    result.cases = parts<CaseResult>(j.at("cases"), "case");
  }
  if (j.contains("measurements")) result.measurements = parts<Measurement>(j.at("measurements"), "measurement");
}

namespace {

template <class Type>
Type parse(const json& j) {
  try {
    return j.get<Type>();
  } catch (const json::exception& error) {
    throw std::invalid_argument("not a RingCheck result: " + words_of(error));
  }
}

template <class Type>
json written(const Type& value) {
  json j;
  to_json(j, value);
  return j;
}

}  // namespace

json to_json(const Result& result) { return written(result); }
json to_json(const Environment& environment) { return written(environment); }
json to_json(const CaseResult& test) { return written(test); }

Result uncounted_from_json(const json& j) {
  kind_of(j);
  return parse<Result>(j);
}

Result result_from_json(const json& j) {
  Result result = uncounted_from_json(j);
  if (!has_cases(result.kind)) return result;
  const json counted = summary_of(result.cases);
  for (const auto& [name, count] : counted.items())
    if (const json said = j.at("summary").value(name, count); said != count)
      throw std::invalid_argument("its summary counts " + said.dump() + " " + name + ", its cases are " + count.dump());
  return result;
}

Environment environment_from_json(const json& j) { return parse<Environment>(j); }
CaseResult case_from_json(const json& j) { return parse<CaseResult>(j); }

}  // namespace ringcheck::reports
