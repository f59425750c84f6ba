// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck export: cases as files, for any program to answer.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "cli/arguments.h"
#include "cli/case_options.h"
#include "cli/files/new_folder.h"
#include "cli/subcommand.h"
#include "cli/verify/fitting.h"
#include "cli/workers/interrupts.h"
#include "parity/case/text.h"
#include "parity/subject/files/cases_folder.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

struct Options {
  CaseOptions cases;
  std::string folder;
};

// What is said of those who answer is nothing here.
const std::set<std::string> kOfTheAnswer{"subject",    "strategy", "rotation",
                                         "kernel",     "device",   "world-kind"};

// The questions, each once: cases of a profile that differ in who answers are the same. A file says of
// each slot whether it holds a token, for all batch entries at once: where they differ in that, it is
// left out.
std::vector<parity::Case> questions(const std::vector<parity::Case>& cases) {
  std::vector<parity::Case> list;
  std::set<std::string> seen;
  for (parity::Case test : cases) {
    if (!test.lengths.empty()) continue;
    test.world_kind = parity::Case().world_kind;
    test.device = parity::Case().device;
    test.subject = parity::Method::kOurs;
    if (seen.insert(parity::question_text(test)).second) list.push_back(std::move(test));
  }
  if (list.empty())
    throw UsageError("files say of a slot whether it holds a token for all batch entries at once: none of "
                     "these cases, whose entries differ in that, can be written; leave --lengths out");
  return list;
}

std::string left_out(const std::vector<parity::Case>& cases) {
  const auto padded = std::ranges::count_if(cases, [](const auto& test) { return !test.lengths.empty(); });
  if (padded == 0) return "";
  return "\n  " + std::to_string(padded) + " left out: their batch entries hold different numbers of tokens";
}

// In the dtype, where the documents say how much is written; several copies of it are held.
int64_t bytes_of(const std::vector<parity::Case>& cases) {
  double bytes = 0;
  for (const parity::Case& test : cases) {
    const double slots = static_cast<double>(test.batch) * static_cast<double>(test.seq);
    const auto channels = static_cast<double>((test.q_heads + test.kv_heads) * (test.dim + test.dim_v));
    bytes += slots * channels * static_cast<double>(c10::elementSize(test.dtype));
  }
  return static_cast<int64_t>(bytes);
}

void check_memory(const std::vector<parity::Case>& cases) {
  const Memory here = memory_here({});
  for (const parity::Case& test : cases)
    if (const auto reason = too_large(test, test.world, here))
      throw UsageError("the case " + *reason + ": " + parity::question_text(test));
}

int run(const Options& options) {
  check_new_folder(options.folder);
  const Selection selection = select(asked_of(options.cases));
  const std::vector<parity::Case> cases = questions(selection.cases);
  check_memory(cases);
  {
    const Interrupts interrupts;
    make_folder(options.folder, [&](const std::string& folder) {
      parity::write_cases(folder, cases, Interrupts::check);
    });
  }
  std::cout << "RingCheck: " << cases.size() << (cases.size() == 1 ? " case" : " cases") << ", "
            << reports::figure(static_cast<double>(bytes_of(cases)) / (1 << 20)) << " MiB, in '"
            << options.folder << "'" << left_out(selection.cases) << "\n  to be answered as its manifest.json says, then: ringcheck judge '"
            << options.folder << "'\n";
  return 0;
}

const Subcommands::Add add("export", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("writes cases as files, for any program to answer");
  program.add_option("folder", options->folder, "a new folder")
      ->required()
      ->check(not_empty())
      ->type_name("DIR");
  add_case_options(program, options->cases, kOfTheAnswer);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
