// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/to_result.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "parity/case/part.h"
#include "parity/case/regressions.h"
#include "parity/case/text.h"
#include "parity/judge/reference_rope.h"
#include "reference/rope.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

reports::Status status_of(parity::Status status) {
  return reports::parse_status(parity::to_text(status));
}

reports::TensorResult to_result(const parity::TensorVerdict& tensor) {
  return {tensor.tensor,
          status_of(tensor.status),
          tensor.max_abs,
          tensor.relative,
          tensor.rms_z,
          tensor.max_z,
          tensor.hard_ratio,
          tensor.bias,
          tensor.vacuity,
          tensor.chunks,
          tensor.chunks_counted,
          status_of(tensor.chart),
          status_of(tensor.bias_status),
          tensor.worst};
}

reports::OracleResult to_result(const parity::OracleVerdict& oracle) {
  reports::OracleResult result{
      oracle.name, status_of(oracle.status), oracle.contract, {}, oracle.findings};
  for (const parity::TensorVerdict& tensor : oracle.tensors)
    result.tensors.push_back(to_result(tensor));
  return result;
}

reports::Figure seconds_of(const std::optional<int64_t>& nanoseconds) {
  return nanoseconds ? static_cast<double>(*nanoseconds) / 1e9 : Seconds::kUnknown;
}

reports::Event::What to_result(Event::What what) {
  using enum reports::Event::What;
  switch (what) {
    case Event::What::kAttend: return kAttend;
    case Event::What::kMerge: return kMerge;
    case Event::What::kSend: return kSend;
    case Event::What::kReceive: return kReceive;
  }
  throw std::logic_error("an event of no kind");
}

reports::Event to_result(const Event& event) {
  return {to_result(event.what),
          seconds_of(event.begin),
          seconds_of(event.end),
          event.pairs,
          event.flops,
          event.bytes,
          event.step,
          event.peer,
          event.operation};
}

reports::PassCounters to_result(Phase phase, const Counters& pass, const Seconds& seconds,
                                const Timeline& timeline) {
  reports::PassCounters result{
      {pass.bytes_sent, pass.bytes_received, pass.messages, pass.pairs, pass.flops, pass.steps,
       pass.merges},
      {seconds.attention, seconds.communication, seconds.exposed, seconds.overlapped},
      pass.computed,
      pass.overlapped};
  for (const Event& event : timeline.events)
    if (event.phase == phase) result.events.push_back(to_result(event));
  return result;
}

reports::RankResult to_result(int rank, const parity::RankRecord& record) {
  return {{rank, record.peak_bytes, record.kv_bytes, record.traveller_bytes,
           std::accumulate(record.wrong_pads.begin(), record.wrong_pads.end(), int64_t{0}),
           to_result(Phase::kForward, record.forward, record.forward_seconds, record.timeline),
           to_result(Phase::kBackward, record.backward, record.backward_seconds, record.timeline),
           record.sent_to,
           record.received_from},
          {record.bytes_sent, record.bytes_received, record.messages}};
}

std::map<std::string, std::string> parts_of(const parity::Case& test) {
  std::map<std::string, std::string> parts;
  for (const parity::Part& part : parity::parts())
    if (const std::string value = part.print(test); !value.empty())
      parts[part.name] = value;
  parts["subject"] = test.subject;
  if (const auto issue = parity::upstream_issue(test))
    parts["regression"] = *issue;
  return parts;
}

}  // namespace

// A function in Python has a process a rank in every world: where this one was started by a launcher, the
// command alone starts them itself.
std::string reproduce_command(const parity::Case& test) {
  parity::Case alone = test;
  if (parity::parse_call(test.subject).name == "python") alone.world_kind = parity::Case{}.world_kind;
  return "ringcheck verify --case " + reports::shell_word(parity::to_text(alone));
}

reports::CaseResult to_result(const parity::Case& test, reports::Status verdict,
                              const std::string& reason) {
  reports::CaseResult result;
  result.name = parity::to_text(test);
  result.group = test.world_kind + " " +
                 (test.is_ours() ? test.strategy + test.arguments : test.subject) + " " + test.balance;
  result.verdict = verdict;
  result.reason = reason;
  result.reproduce = reproduce_command(test);
  result.parts = parts_of(test);
  return result;
}

reports::CaseResult to_result(const parity::Verdict& verdict) {
  reports::CaseResult result = to_result(verdict.test, status_of(verdict.status), verdict.reason);
  result.seconds = verdict.seconds;
  result.explained = verdict.explained;
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    result.oracles.push_back(to_result(oracle));
  for (const auto& [tensor, ranks] : verdict.judged)
    for (const parity::JudgedBy by : ranks)
      result.judged[tensor].push_back(parity::to_text(by));
  if (verdict.test.rope.pairing != Rope::Pairing::kNone)
    result.float32_angles_off = reference::single_angles_off(
        parity::mask_of(verdict.test), parity::reference_rope(verdict.test), verdict.test.dim);
  for (size_t rank = 0; rank < verdict.ranks.size(); ++rank)
    result.ranks.push_back(to_result(static_cast<int>(rank), verdict.ranks[rank]));
  return result;
}

nlohmann::json without_times(nlohmann::json result) {
  if (result.is_object())
    for (auto it = result.begin(); it != result.end();)
      if (it.key().find("seconds") != std::string::npos || it.key() == "events") it = result.erase(it);
      else {
        *it = without_times(std::move(*it));
        ++it;
      }
  else if (result.is_array())
    for (nlohmann::json& element : result) element = without_times(std::move(element));
  return result;
}

void note_sample(int64_t sample, reports::CaseResult& test) {
  const auto seq = test.parts.find("seq");
  if (sample == 0 || seq == test.parts.end() || std::stoll(seq->second) <= sample)
    return;
  test.parts["sample"] = std::to_string(sample);
  test.reproduce += " --sample " + std::to_string(sample);
}

}  // namespace ringcheck::cli
