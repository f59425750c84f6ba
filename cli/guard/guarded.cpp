// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/guarded.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>

#include "cli/guard/recognise.h"
#include "cli/subcommand.h"
#include "parity/subject/contract.h"

namespace ringcheck::cli {
namespace {

using parity::LawVerdict;
using parity::Status;

constexpr int kPartials = 64;  // partial results that an unknown implementation merges at most

// Each rank once, and all of them, where ranks are said: the laws hold over the whole sequence only.
void check_ranks(const Guarded& all) {
  for (int rank = 0; rank < all.world && all.ranks.front() >= 0; ++rank)
    if (const auto found = std::ranges::count(all.ranks, rank); found != 1)
      throw UsageError("guard: " + std::to_string(found) + " files say that they are rank " +
                       std::to_string(rank) + " of " + std::to_string(all.world) +
                       "; want the files of all ranks, each once");
}

std::string world_text(int world) {
  return world < 0 ? "no rank" : "that it is of a world of " + std::to_string(world);
}

void add(Guarded& all, const std::string& path, GuardFile file) {
  if (!all.files.empty() && file.scale != all.how.scale)
    throw UsageError("guard: '" + path + "' has another softmax scale than the files before it; give "
                     "the files of one step");
  if (!all.files.empty() && file.world != all.world)
    throw UsageError("guard: '" + path + "' says " + world_text(file.world) + ", the files before it " +
                     world_text(all.world) + "; give the files of one step");
  all.files.push_back(path);
  all.ranks.push_back(file.rank);
  all.world = file.world;
  all.how.scale = file.scale;
  all.how.rotated = all.how.rotated && file.rotated;
  all.has_lse = all.has_lse && file.has_lse;
  all.group = file.group();
  all.dtypes.merge(file.dtypes);
  std::ranges::move(file.findings, std::back_inserter(all.findings));
  all.parts.push_back(parity::conservation_sums(file.shard));
  try {
    all.sums = all.sums + all.parts.back();
  } catch (const std::invalid_argument& error) {
    throw UsageError("guard: '" + path + "' is no shard of the same problem: " + error.what());
  }
}

// A law that fails, with who adds most to it.
std::string broken_law(const Guarded& all, size_t law) {
  const std::vector<double>& shares = all.shares[law];
  if (shares.empty()) return all.laws[law].text();
  const auto most = std::ranges::max_element(shares) - shares.begin();
  return c10::str(all.laws[law].text(), "; ", all.part_name(most), " adds most to it: ",
                  std::lround(100 * shares[most]), " %");
}

void say_what_is_wrong(Guarded& all) {
  for (size_t law = 0; law < all.laws.size(); ++law) {
    const bool broken = all.laws[law].status == Status::kFail;
    all.shares.push_back(broken && all.parts.size() > 1
                             ? parity::shares_of(law, all.parts, all.how)
                             : std::vector<double>());
    if (broken) all.findings.push_back(broken_law(all, law));
  }
  if (all.findings.empty()) return;
  for (size_t file = 0; file < all.parts.size() && all.parts.size() > 1; ++file)
    std::ranges::move(parity::suspects(all.part_name(file), all.parts[file]),
                      std::back_inserter(all.findings));
}

Status overall(const Guarded& all) {
  if (!all.findings.empty()) return Status::kFail;
  const bool shows_nothing = std::ranges::any_of(
      all.laws, [](const LawVerdict& law) { return law.status == Status::kInconclusive; });
  return shows_nothing || all.isolated ? Status::kInconclusive : Status::kPass;
}

}  // namespace

std::string Guarded::part_name(size_t file) const {
  return ranks[file] < 0 ? "'" + files[file] + "'" : "rank " + std::to_string(ranks[file]);
}

Guarded guard(const GuardQuestion& question) {
  Guarded all;
  all.how.rotated = !question.unrotated;
  if (!question.accumulation.empty())
    all.how.gradients = parity::parse_accumulation(question.accumulation);
  for (const std::string& path : question.files) add(all, path, read_guard_file(path));
  check_ranks(all);
  if (all.empty()) return all;
  all.how.world = std::max({all.world, kPartials, static_cast<int>(all.files.size())});
  all.how.gradient_terms = static_cast<double>(all.group) * all.how.world;
  all.how.contract = parity::loosest_contract(all.dtypes);
  const bool finite = all.findings.empty();
  all.laws = judge_conservation(all.sums, all.how);
  say_what_is_wrong(all);
  if (all.findings.empty()) all.isolated = parity::isolated(all.parts, all.how);
  else if (finite) all.fits = recognise(all);
  all.status = overall(all);
  return all;
}

}  // namespace ringcheck::cli
