// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/screen/console.h"

#include <algorithm>
#include <sstream>

#include "reports/exit_codes.h"
#include "reports/formats/largest.h"
#include "reports/screen/causes.h"
#include "reports/screen/table.h"
#include "reports/text.h"
#include "reports/formats/verdict.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kCases = 20;    // that did not pass, written in full
constexpr size_t kFindings = 8;  // of one of them
constexpr size_t kPrinted = 8;   // last lines of what its ranks printed

struct Row {
  int64_t cases = 0, failed = 0, open = 0;
  double seconds = 0;
  Largest largest;

  void add(const CaseResult& test) {
    const bool bad = is_bad(test.verdict);
    ++cases;
    failed += bad;
    open += test.verdict != Status::kPass && !bad;
    seconds += test.seconds;
    for (const OracleResult& oracle : test.oracles)
      for (const TensorResult& tensor : oracle.tensors) largest.add(tensor);
  }
};

// "thread ring:p2p headtail" in columns.
Table::Row group_columns(const std::string& said) {
  const std::string group = visible(said);
  const size_t first = group.find(' '), last = group.rfind(' ');
  if (first == last)
    return {group, "", ""};
  return {group.substr(0, first), group.substr(first + 1, last - first - 1),
          group.substr(last + 1)};
}

Table::Row table_row(const std::string& group, const Row& row) {
  const auto count = [](int64_t n, Tone tone) {
    return n == 0 ? Table::Entry("-") : Table::Entry(std::to_string(n), tone);
  };
  const auto& [error, sigmas, blind] = row.largest;
  const auto shown = [&](const std::optional<double>& value) { return error ? short_figure(value.value_or(0)) : "-"; };
  Table::Row columns = group_columns(group);
  for (const Table::Entry& entry : Table::Row{
        count(row.cases, Tone::kPlain), count(row.failed, Tone::kBad), count(row.open, Tone::kOpen),
        shown(error), shown(sigmas), shown(blind)})
    columns.push_back(entry);
  return columns;
}

const char* const kColumnsMean =
    "  open    neither passed nor failed: inconclusive, not supported or skipped\n"
    "  error   largest error, over the bound that rounding allows: above 1.001 fails\n"
    "  sigmas  largest error, in its predicted standard deviations: above 8 fails\n"
    "  blind   largest share of a result that could be zero unnoticed: below 0.02\n";

std::string table(const std::vector<CaseResult>& cases, const Paint& paint) {
  std::map<std::string, Row> rows;
  Row all;
  for (const CaseResult& test : cases) {
    rows[test.group].add(test);
    all.add(test);
  }
  Table table({"world", "strategy", "balance", "cases", "failed", "open", "error", "sigmas", "blind"},
              3);
  for (const auto& [group, row] : rows)
    table.add(table_row(group, row));
  if (rows.size() > 1) {
    table.rule();
    table.add(table_row("all", all));
  }
  return table.text(paint) + paint(Tone::kFaint, kColumnsMean);
}

// How much of it nobody judged.
std::string judged_text(const std::vector<CaseResult>& cases, const Paint& paint) {
  const Judged judged = judged_in(cases);
  if (judged.all == 0)
    return "";
  const std::string all = std::to_string(judged.all) + " tensors of ranks";
  if (judged.nobody == 0)
    return paint(Tone::kFaint, "  All " + all + " (o, lse, dq, dk and dv) were judged.\n");
  std::string tensors;
  for (const auto& [tensor, count] : judged.nobody_by_tensor)
    tensors += (tensors.empty() ? ": " : ", ") + visible(tensor) + " " + std::to_string(count);
  return paint(Tone::kOpen, "  Judged by nobody: " + std::to_string(judged.nobody) + " of " + all +
                                tensors + "\n");
}

std::string upper(std::string text) {
  for (char& c : text)
    c = c == '_' ? ' ' : static_cast<char>(std::toupper(c));
  return text;
}

Tone tone_of(Status verdict) {
  return verdict == Status::kPass ? Tone::kGood : is_bad(verdict) ? Tone::kBad : Tone::kOpen;
}

// A command, to be copied: the case, which is one word, on a line of its own where it is long.
std::string command_text(const std::string& said) {
  const std::string command = visible(said);
  const std::string label = "  reproduce: ";
  const size_t before = command.find(" '");
  if (label.size() + command.size() <= kColumns || before == std::string::npos)
    return label + command + "\n";
  return label + command.substr(0, before) + " \\\n    " + command.substr(before + 1) + "\n";
}

// Lines of the end of what ranks printed; what killed ones left behind is for who looks into the result.
std::string printed_text(const CaseResult& test) {
  if (test.log.empty() || test.verdict == Status::kHang) return "";
  std::vector<std::string> lines;
  std::istringstream log(test.log);
  for (std::string line; std::getline(log, line);) lines.push_back(visible(line));
  const size_t first = lines.size() - std::min(lines.size(), kPrinted);
  std::string text = first == 0 ? "  printed:\n" : "  printed, the last lines of it; --json FILE keeps more:\n";
  for (size_t i = first; i < lines.size(); ++i) text += "    " + lines[i] + "\n";
  return text;
}

std::string in_full(const CaseResult& test, const Paint& paint) {
  const std::string head = headline(test), word = upper(to_text(test.verdict));
  std::string text = "\n" + paint(tone_of(test.verdict), word) + "  " +
                     wrapped(head, 4, word.size() + 2) + "\n";
  const std::vector<std::string> findings = findings_of(test);
  for (size_t i = 0; i < std::min(findings.size(), kFindings); ++i)
    if (!findings[i].ends_with(head))
      text += "  " + wrapped(findings[i], 4, 2) + "\n";
  if (findings.size() > kFindings)
    text += "  and " + std::to_string(findings.size() - kFindings) +
            " more; --json FILE writes all findings\n";
  return text + printed_text(test) + command_text(test.reproduce);
}

// Not supported and skipped cases by their reason.
std::string not_run(const std::vector<CaseResult>& cases, Status verdict, const char* title) {
  std::map<std::string, int64_t> reasons;
  for (const CaseResult& test : cases)
    if (test.verdict == verdict)
      ++reasons[test.reason];
  std::string text = reasons.empty() ? "" : "\n" + std::string(title) + "\n";
  for (const auto& [reason, count] : reasons)
    text += right(std::to_string(count), 7) + "  " + wrapped(reason, 9, 9) + "\n";
  return text;
}

std::string did_not_pass(const std::vector<CaseResult>& cases, const Paint& paint) {
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
    text += in_full(test, paint);
  }
  if (all > shown)
    text +=
        "\nand " + std::to_string(all - shown) +
        " more that did not pass; --json FILE writes them all\n";
  text += causes(cases, kCases);
  if (all > 0)
    text += paint(Tone::kFaint, "\nHow to read this: docs/terminal.md; what an oracle such as parity "
                                "asks:\ndocs/oracles.md\n");
  return text;
}

Tone tone_of(int exit_code) {
  using namespace exit_codes;
  if (exit_code == 0) return Tone::kGood;
  return exit_code == kWrong || exit_code == kContract || exit_code == kDead ? Tone::kBad : Tone::kOpen;
}

}  // namespace

bool is_bad(Status verdict) {
  return verdict == Status::kFail || verdict == Status::kHang || verdict == Status::kCrash;
}

std::string console_header(const Environment& environment, const std::string& what,
                           const Paint& paint) {
  const std::string program = "RingCheck " + visible(environment.version) + ": ";
  const auto entry = [&](const char* name, const std::string& value) {
    return paint(Tone::kFaint, "  " + left(name, 11) + wrapped(value, 13, 13)) + "\n";
  };
  std::string commit = environment.commit.substr(0, 12);
  if (environment.commit.find("-dirty") != std::string::npos)
    commit += "-dirty";
  return program + wrapped(what, 2, program.size()) + "\n" + entry("commit", commit) +
         entry("host", environment.host + ", " + std::to_string(environment.cores) + " cores, " +
                           environment.cpu) +
         entry("libraries", "LibTorch " + environment.libtorch + ", " + environment.mpi + ", " +
                                environment.compiler) +
         (environment.launcher.empty() && environment.transport.empty()
              ? "" : entry("ranks", environment.launcher + "; " + environment.transport)) + "\n";
}

std::string console_line(const CaseResult& test, const Paint& paint) {
  return paint(tone_of(test.verdict), left(to_text(test.verdict), 14)) +
         right(fixed(test.seconds, 3), 9) + " s  " + visible(test.name) + "\n";
}

std::string console_report(const Result& result, int exit_code, const Paint& paint) {
  const auto& cases = result.cases;
  const std::string word = verdict_word(exit_code);
  return paint(tone_of(exit_code), word) + "  " + wrapped(counts_text(result), 2, word.size() + 2) + "\n\n" +
         table(cases, paint) +
         judged_text(cases, paint) + did_not_pass(cases, paint) +
         not_run(cases, Status::kNotSupported, "Not supported:") +
         not_run(cases, Status::kSkipped, "Skipped:");
}

}  // namespace ringcheck::reports
