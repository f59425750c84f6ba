// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck guard: did a training step of any implementation keep attention's conservation laws?
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/guard/guard_file.h"
#include "cli/subcommand.h"
#include "parity/judge/comparison.h"
#include "parity/judge/conservation/conservation.h"
#include "parity/subject/contract.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::LawVerdict;
using parity::Status;

constexpr int kFailed = 1, kShowsNothing = 6;  // exit codes
constexpr int kPartials = 64;  // partial results that an unknown implementation merges at most

struct Options {
  std::vector<std::string> files;
  std::string json;
  bool unrotated = false;
};

struct Guarded {
  parity::ConservationSums sums;
  parity::Arithmetic how;
  std::set<at::ScalarType> dtypes;
  std::vector<std::string> findings;
  std::vector<LawVerdict> laws;
  Status status = Status::kInconclusive;
};

// Each rank once, and all of them: the laws hold over the whole sequence only.
void check_ranks(const std::vector<int>& ranks, int world) {
  if (std::ranges::all_of(ranks, [](int rank) { return rank < 0; }))
    return;
  for (int rank = 0; rank < world; ++rank)
    if (const auto found = std::ranges::count(ranks, rank); found != 1)
      throw UsageError("guard: " + std::to_string(found) + " files say that they are rank " +
                       std::to_string(rank) + " of " + std::to_string(world) +
                       "; want the files of all ranks, each once");
}

Status overall(const Guarded& all) {
  const auto any = [&](Status status) {
    return std::ranges::any_of(all.laws, [&](const auto& law) { return law.status == status; });
  };
  if (!all.findings.empty() || any(Status::kFail))
    return Status::kFail;
  return any(Status::kInconclusive) ? Status::kInconclusive : Status::kPass;
}

// One file after the other; only their sums stay.
Guarded guard(const Options& options) {
  Guarded all;
  std::vector<int> ranks;
  int world = 1;
  all.how.rotated = !options.unrotated;
  for (const std::string& path : options.files) {
    GuardFile file = read_guard_file(path);
    if (!ranks.empty() && file.scale != all.how.scale)
      throw UsageError("guard: '" + path + "' has another softmax scale than the files before it");
    all.how.scale = file.scale;
    all.how.rotated = all.how.rotated && file.rotated;
    ranks.push_back(file.rank);
    world = std::max(world, file.world);
    all.dtypes.merge(file.dtypes);
    std::ranges::move(file.findings, std::back_inserter(all.findings));
    try {
      all.sums = all.sums + file.sums;
    } catch (const std::invalid_argument& error) {
      throw UsageError("guard: '" + path + "' is no shard of the same problem: " + error.what());
    }
  }
  check_ranks(ranks, world);
  all.how.world = std::max({world, kPartials, static_cast<int>(ranks.size())});
  all.how.contract = parity::loosest_contract(all.dtypes);
  all.laws = judge_conservation(all.sums, all.how);
  all.status = overall(all);
  return all;
}

std::string dtypes_text(const Guarded& all) {
  return c10::Join(", ", std::views::transform(all.dtypes, parity::dtype_text));
}

std::string place_of(const LawVerdict& law) {
  if (law.status == Status::kNotApplicable)
    return "";
  return "batch " + std::to_string(law.batch) + " kv head " + std::to_string(law.kv_head) +
         (law.channel < 0 ? "" : " channel " + std::to_string(law.channel));
}

std::string word_of(const LawVerdict& law) {
  switch (law.status) {
    case Status::kPass: return "pass";
    case Status::kFail: return "FAIL";
    case Status::kNotApplicable: return "skipped: q and k are not rotated";
    default: return "shows nothing: a plainly wrong result would pass";
  }
}

void print(const Guarded& all, std::ostream& screen) {
  using reports::figure, reports::left, reports::right;
  screen << "  " << all.sums.queries << " queries and " << all.sums.keys
            << " keys of each of " << all.sums.dv.size(0) << " x " << all.sums.dv.size(1)
            << " (batch, kv head); " << dtypes_text(all) << "\n\n"
            << "  law                        worst z     seen  where                                verdict\n";
  for (const LawVerdict& law : all.laws) {
    const bool judged = law.status != Status::kNotApplicable;
    screen << "  " << left(law.law + " " + law.says, 24) << right(judged ? figure(law.z) : "-", 10)
              << right(judged ? std::to_string(law.counted) + "/" + std::to_string(law.heads) : "-", 9)
              << "  " << left(place_of(law), 36) << " " << word_of(law) << "\n";
  }
  screen << "  worst z: largest difference over what rounding explains, a pass is at most "
            << parity::kStat << "\n"
            << "  seen: (batch, kv head) in which a plainly wrong result would fail\n";
  for (const LawVerdict& law : all.laws)
    if (law.status == Status::kFail)
      screen << "\nFAIL  " << law.text() << "\n";
  for (const std::string& finding : all.findings)
    screen << "\nFAIL  " << finding << "\n";
  screen << std::flush;
}

nlohmann::json to_json(const Options& options, const Guarded& all) {
  using reports::Figure;
  nlohmann::json laws = nlohmann::json::array();
  for (const LawVerdict& law : all.laws)
    laws.push_back({{"law", law.law},
                    {"says", law.says},
                    {"verdict", to_text(law.status)},
                    {"z", Figure(law.z)},
                    {"difference", Figure(law.difference)},
                    {"sigma", Figure(law.sigma)},
                    {"batch", law.batch},
                    {"kv_head", law.kv_head},
                    {"channel", law.channel},
                    {"power", Figure(law.power)},
                    {"counted", law.counted},
                    {"heads", law.heads}});
  reports::Environment here = environment();
  here.command = "ringcheck guard";
  return reports::envelope(reports::Kind::kGuard, here,
                           {{"verdict", to_text(all.status)},
                            {"files", options.files},
                            {"dtypes", dtypes_text(all)},
                            {"queries", all.sums.queries},
                            {"keys", all.sums.keys},
                            {"scale", all.how.scale},
                            {"rotated", all.how.rotated},
                            {"laws", laws},
                            {"findings", all.findings}});
}

// A shard that is counted twice cancels nothing.
void check_distinct(const std::vector<std::string>& files) {
  std::set<std::string> seen;
  for (const std::string& file : files)
    if (!seen.insert(std::filesystem::weakly_canonical(file)).second)
      throw UsageError("guard: '" + file + "' is given twice; give every file once");
}

int run(const Options& options) {
  check_distinct(options.files);
  if (!options.json.empty())
    reports::check_writable(options.json);
  const Guarded all = guard(options);
  if (all.sums.queries == 0 || all.sums.keys == 0 || all.sums.dv.numel() == 0) {
    std::cerr << "ringcheck: guard: the files hold no token; nothing was judged\n";
    return exit_codes::kNothingRan;
  }
  print(all, reports::screen_beside(options.json));
  if (!options.json.empty())
    reports::write_json(options.json, to_json(options, all));
  if (all.status == Status::kFail)
    return kFailed;
  return all.status == Status::kPass ? 0 : kShowsNothing;
}

const Subcommands::Add add("guard", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("judges dumped tensors of any implementation by conservation laws");
  program
      .add_option("files", options->files,
                  "safetensors with q k v o do dq dk dv and, perhaps, lse; one, or one a rank")
      ->required()
      ->type_name("FILE");
  program.add_option("--json", options->json, "write the result; - is stdout")
      ->type_name("FILE")
      ->check(not_empty());
  program.add_flag("--unrotated", options->unrotated,
                   "q, k, dq and dk are those before a rotary embedding: C2 is skipped");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
