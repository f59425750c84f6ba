// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/console.h"

#include <algorithm>
#include <cmath>

#include "reports/text.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kCases = 20;    // that did not pass, written in full
constexpr size_t kFindings = 8;  // of one of them

// The largest, where NaN is larger than everything.
void raise(double& largest, double value) {
  if (std::isnan(value) || value > largest)
    largest = value;
}

struct Row {
  int64_t cases = 0, passed = 0, failed = 0, other = 0;
  bool measured = false;
  double margin = 0, z = 0, vacuity = 0, seconds = 0;

  void add(const CaseResult& test) {
    const bool bad = test.verdict == Status::kFail || test.verdict == Status::kHang ||
                     test.verdict == Status::kCrash;
    ++cases;
    passed += test.verdict == Status::kPass;
    failed += bad;
    other += test.verdict != Status::kPass && !bad;
    seconds += test.seconds;
    for (const OracleResult& oracle : test.oracles)
      for (const TensorResult& tensor : oracle.tensors) {
        measured = true;
        raise(margin, tensor.hard_ratio);
        raise(z, tensor.max_z);
        if (tensor.verdict == Status::kPass)
          raise(vacuity, tensor.vacuity);
      }
  }
};

// "thread ring:p2p headtail" in columns.
std::string group_columns(const std::string& group) {
  const size_t rotation = group.find(' '), balance = group.rfind(' ');
  if (rotation == balance)
    return left(group, 40);
  return left(left(group.substr(0, rotation), 8) +
                  left(group.substr(rotation + 1, balance - rotation - 1), 22) +
                  group.substr(balance + 1),
              40);
}

std::string line(const std::string& group, const std::vector<std::string>& columns) {
  std::string text = "  " + group_columns(group);
  for (const std::string& column : columns)
    text += " " + right(column, 7);
  while (text.back() == ' ')
    text.pop_back();
  return text + "\n";
}

std::string row_text(const std::string& group, const Row& row) {
  const auto shown = [&](double value) { return row.measured ? figure(value) : "-"; };
  const auto count = [](int64_t n) { return n == 0 ? "-" : std::to_string(n); };
  return line(group, {std::to_string(row.cases), count(row.passed), count(row.failed),
                      count(row.other), shown(row.margin), shown(row.z), shown(row.vacuity)});
}

std::string table(const std::vector<CaseResult>& cases) {
  std::map<std::string, Row> rows;
  Row all;
  for (const CaseResult& test : cases) {
    rows[test.group].add(test);
    all.add(test);
  }
  std::string text = line("world rotation balance",
                          {"cases", "passed", "failed", "other", "margin", "worst z", "vacuity"});
  const std::string rule = "  " + std::string(96, '-') + "\n";
  text += rule;
  for (const auto& [group, row] : rows)
    text += row_text(group, row);
  return text + rule + row_text("all", all) +
         "  margin: largest error over its bound, a pass is at most 1\n";
}

// How much of it nobody judged.
std::string judged_text(const std::vector<CaseResult>& cases) {
  const Judged judged = judged_in(cases);
  if (judged.all == 0)
    return "";
  std::string tensors;
  for (const auto& [tensor, count] : judged.nobody_by_tensor)
    tensors += (tensors.empty() ? ": " : ", ") + tensor + " " + std::to_string(count);
  return "  judged by nobody: " + std::to_string(judged.nobody) + " of " +
         std::to_string(judged.all) + " tensors of ranks" + tensors + "\n";
}

std::string upper(std::string text) {
  for (char& c : text)
    c = c == '_' ? ' ' : static_cast<char>(std::toupper(c));
  return text;
}

std::string in_full(const CaseResult& test) {
  const std::string head = headline(test);
  std::string text = "\n" + upper(to_text(test.verdict)) + "  " + head + "\n";
  const std::vector<std::string> findings = findings_of(test);
  for (size_t i = 0; i < std::min(findings.size(), kFindings); ++i)
    if (!findings[i].ends_with(head))
      text += "  " + findings[i] + "\n";
  if (findings.size() > kFindings)
    text += "  and " + std::to_string(findings.size() - kFindings) + " more findings\n";
  return text + "  reproduce: " + test.reproduce + "\n";
}

// Not supported and skipped cases by their reason.
std::string not_run(const std::vector<CaseResult>& cases, Status verdict, const char* title) {
  std::map<std::string, int64_t> reasons;
  for (const CaseResult& test : cases)
    if (test.verdict == verdict)
      ++reasons[test.reason];
  std::string text = reasons.empty() ? "" : "\n" + std::string(title) + "\n";
  for (const auto& [reason, count] : reasons)
    text += right(std::to_string(count), 7) + "  " + reason + "\n";
  return text;
}

std::string did_not_pass(const std::vector<CaseResult>& cases) {
  std::string text;
  size_t shown = 0, all = 0;
  for (const CaseResult& test : cases) {
    if (test.verdict == Status::kPass || test.verdict == Status::kNotSupported ||
        test.verdict == Status::kSkipped)
      continue;
    ++all;
    if (shown == kCases)
      continue;
    ++shown;
    text += in_full(test);
  }
  if (all > shown)
    text +=
        "\nand " + std::to_string(all - shown) + " more that did not pass; --json has them all\n";
  return text;
}

std::string sum_text(const Result& result) {
  const Summary& sum = result.summary;
  std::string text = std::to_string(sum.cases) + (sum.cases == 1 ? " case: " : " cases: ") +
                     std::to_string(sum.passed) + " passed";
  const auto add = [&](int64_t count, const char* word) {
    if (count > 0)
      text += ", " + std::to_string(count) + " " + word;
  };
  add(sum.failed, "FAILED");
  add(sum.hang, sum.hang == 1 ? "HANG" : "HANGS");
  add(sum.crash, sum.crash == 1 ? "CRASH" : "CRASHES");
  add(sum.inconclusive, "inconclusive");
  add(sum.not_supported, "not supported");
  add(sum.skipped, "skipped");
  const double wall = result.environment.wall_seconds;
  text += "; " + seconds_text(wall);
  const int64_t ran = sum.cases - sum.skipped - sum.not_supported;
  if (wall > 0 && ran > 0)
    text += ", " + figure(static_cast<double>(ran) / wall) + " cases/s";
  return text + "\n";
}

}  // namespace

std::string console_header(const Environment& environment, const std::string& what) {
  const auto entry = [](const char* name, const std::string& value) {
    return "  " + left(name, 11) + value + "\n";
  };
  std::string commit = environment.commit.substr(0, 12);
  if (environment.commit.find("-dirty") != std::string::npos)
    commit += "-dirty";
  return "RingCheck " + environment.version + ", commit " + commit + "\n" +
         entry("host", environment.host + ", " + std::to_string(environment.cores) + " cores, " +
                           environment.cpu) +
         entry("libraries", "LibTorch " + environment.libtorch + ", " + environment.mpi + ", " +
                                environment.compiler) +
         entry("ranks", environment.launcher + "; " + environment.transport) +
         entry("cases", what) + "\n";
}

std::string console_line(const CaseResult& test) {
  return left(to_text(test.verdict), 14) + right(fixed(test.seconds, 3), 9) + " s  " + test.name +
         "\n";
}

std::string console_report(const Result& result) {
  const auto& cases = result.cases;
  return table(cases) + judged_text(cases) + did_not_pass(cases) +
         not_run(cases, Status::kNotSupported, "Not supported:") +
         not_run(cases, Status::kSkipped, "Skipped:") + "\n" + sum_text(result);
}

}  // namespace ringcheck::reports
