// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/run.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "reports/counters.h"
#include "reports/envelope.h"
#include "reports/formats/largest.h"
#include "reports/history/largest_errors.h"
#include "reports/history/moment.h"
#include "reports/history/plain_text.h"
#include "reports/median.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

// Bytes that are no UTF-8 are replaced, as in files.
std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string counters_text(const CaseResult& test) {
  json sums = json::object();
  for (const RankResult& rank : test.ranks)
    for (const auto& [name, value] : counters_of(rank)) {
      json& sum = sums[name];
      sum = (sum.is_null() ? 0 : sum.get<int64_t>()) + value;
    }
  return dumped(sums);
}

Run::Verdict verdict_of(const CaseResult& test) {
  Run::Verdict row{test.name, dumped(test.parts), to_text(test.verdict), headline(test),
                   counters_text(test), test.verdict == Status::kFail && only_contract(test),
                   test.seconds, {}, {}, {}, judged_in({test}).nobody};
  Largest largest;
  for (const OracleResult& oracle : test.oracles)
    for (const TensorResult& tensor : oracle.tensors) largest.add(tensor);
  row.margin = largest.error;
  row.worst_z = largest.sigmas;
  row.vacuity = largest.blind;
  return row;
}

Run::Point point_of(const Measurement& one, const json& samples) {
  return {one.name, dumped(one.parts), one.unit, one.better, dumped(samples),
          median(numbers(one.samples)),
          one.limit ? std::optional<double>(one.limit->value) : std::nullopt};
}

// Runs are in the order of this text.
void check_started(const Environment& environment) {
  if (!is_moment(environment.started))
    throw std::invalid_argument("it started at '" + environment.started + "'; want a time in UTC such as 2026-11-22T05:28:01Z");
}

void check_better(const Measurement& one) {
  if (one.better != "smaller" && one.better != "larger" && !one.better.empty())
    throw std::invalid_argument("of its measurement " + one.name + " '" + one.better +
                                "' is better; want smaller, larger, or nothing where neither is");
}

// What its kind has must be there, and no case or measurement twice: they are told apart by name.
void check_whole(const json& file, const Result& result) {
  if (!has_cases(result.kind) && !file.contains(to_text(result.kind)))
    throw std::invalid_argument("it is of kind " + to_text(result.kind) + " and has no such member");
  check_plain(result);
  check_started(result.environment);
  for (const Measurement& one : result.measurements) check_better(one);
  std::set<std::string> names;
  for (const CaseResult& test : result.cases)
    if (!names.insert(test.name).second)
      throw std::invalid_argument("it has the case " + test.name + " twice");
  for (const Measurement& one : result.measurements)
    if (const std::string name = one.name + " of " + dumped(one.parts); !names.insert(name).second)
      throw std::invalid_argument("it has the measurement " + name + " twice");
}

std::string id_of(const std::string& text) {
  const boost::uuids::name_generator_sha1 uuid(boost::uuids::ns::oid());
  return to_string(uuid(text));
}

void append(std::vector<Run::Point>& points, const std::vector<Run::Point>& others) {
  points.insert(points.end(), others.begin(), others.end());
}

// Of a summary (ci/bundle/summary.py): its counts and largest errors; it has no case.
Run run_of_summary(const json& file) try {
  Run run;
  run.kind = Kind::kVerify;
  run.environment = environment_from_json(file.at("environment"));
  check_plain(run.environment);
  check_started(run.environment);
  const json& counts = file.at("summary");
  run.summary = {counts.at("cases"),   counts.at("passed"),       counts.at("failed"), counts.at("not_supported"),
                 counts.at("skipped"), counts.at("inconclusive"), counts.at("hang"),   counts.at("crash")};
  if (file.contains("largest_of_passed"))
    append(run.points, largest_errors(file.at("largest_of_passed"), run.environment.command));
  run.text = file_text(file);
  run.id = id_of(run.text);
  return run;
} catch (const json::exception& error) {
  throw std::invalid_argument(std::string("it is no summary of results: ") + words_of(error));
}

}  // namespace

Run run_of(const json& file) {
  if (file.is_object() && file.contains("summary_of")) return run_of_summary(file);
  const Result result = result_from_json(file);
  check_whole(file, result);
  Run run;
  run.kind = result.kind;
  run.environment = result.environment;
  run.summary = summary_of(result.cases);
  run.judged = judged_in(result.cases);
  run.text = file_text(file);
  for (const CaseResult& test : result.cases) run.verdicts.push_back(verdict_of(test));
  for (size_t i = 0; i < result.measurements.size(); ++i)
    run.points.push_back(
        point_of(result.measurements[i], file["measurements"][i]["samples"]));
  if (run.kind == Kind::kVerify) append(run.points, largest_errors(result.cases, run.environment.command));
  run.id = id_of(run.text);
  return run;
}

}  // namespace ringcheck::reports
