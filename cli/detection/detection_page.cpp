// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/detection_page.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/detection/fault_tables.h"
#include "cli/detection/peer_scores.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Score;

// "10.9 % and 80.7 %": the least and the most that a project's tests notice.
std::string range_of_peers(const KillMatrix& matrix) {
  std::vector<double> percent;
  for (const auto& [peer, score] : scores_of_peers(matrix))
    if (score.counted() > 0) percent.push_back(100.0 * score.killed / score.counted());
  if (percent.empty()) return "none";
  const auto [least, most] = std::ranges::minmax(percent);
  return "between " + reports::fixed(least, 1) + " % and " + reports::fixed(most, 1) + " %";
}

std::string short_commit(const std::string& commit) { return commit.substr(0, 7); }

// "41d1128, 8ea3280 and a39df51": of the clean cases, whose runs are the sources behind those of the matrix, of the limits
// and of each profile.
std::string commits_of_clean(const Detection& detection) {
  std::set<std::string> commits;
  for (size_t i = 2 + detection.profiles.size(); i < detection.sources.size(); ++i)
    commits.insert(short_commit(detection.sources[i].commit));
  std::string text;
  for (const std::string& commit : commits)
    text += (text.empty() ? "" : commit == *commits.rbegin() ? " and " : ", ") + commit;
  return text;
}

// The paragraph that README.md repeats.
std::string in_short(const Detection& detection) {
  const KillMatrix& matrix = detection.matrix;
  const Score faults = score_by_fault(matrix), all = parity::score_of(matrix.cells);
  std::ostringstream text;
  text << "Measured at " << short_commit(matrix.environment.commit)
       << ": `ringcheck faults` plants " << faults.counted() + faults.equivalent
       << " bugs, each standing for a real one, and asks: on " << matrix.environment.cores
       << " cores in " << reports::fixed(matrix.environment.wall_seconds, 0) << " s.\nOf the "
       << faults.counted()
       << " that can change anything, " << faults.killed << " are killed; counted in every dtype in"
       << " which they can show, " << share(all.killed, all.counted()) << ",\nand "
       << share(all.localised, all.killed) << " name the right tensor, rank or counter.\n"
       << "The criteria of other projects' tests, on the same runs, kill " << range_of_peers(matrix)
       << ".\n" << detection.alarms.alarms << (detection.alarms.alarms == 1 ? " false alarm in " : " false alarms in ")
       << detection.alarms.judged
       << " random clean cases, measured at " << commits_of_clean(detection) << ".\n";
  return text.str();
}

std::string sources_table(const std::vector<Source>& sources) {
  std::string text = "| figures from | made by | commit | on |\n|---|---|---|---|\n";
  for (const Source& source : sources)
    text += "| `" + source.file + "` | `" + source.command + "` | " + source.commit + " | " +
            source.cpu + " |\n";
  return text;
}

std::string oracles_table(const KillMatrix& matrix) {
  std::string text = "| oracle | cells asked | saw the fault |\n|---|---|---|\n";
  for (const auto& [oracle, asked] : times_asked(matrix))
    text += "| " + oracle + " | " + std::to_string(asked.times) + " | " +
            std::to_string(asked.saw) + " |\n";
  return text;
}

std::string as_list(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += "- " + line + "\n";
  return text;
}

std::string headlines(const std::vector<KillMatrix>& profiles) {
  std::string text;
  for (const KillMatrix& profile : profiles) text += as_list(profile_headline(profile));
  return text;
}

constexpr const char* kOracles = R"(
## Who sees the planted bugs

A bug is killed where an oracle rejects its outcome, or a deadline or a failing rank shows it, while
the same cases without it pass every oracle. An oracle that needs further runs of a case is asked
where the cheaper ones saw nothing or did not name the place, so its count is a lower bound. A fault
of the judging itself is killed by the self-test that comes before every run.

)";

constexpr const char* kPeers = R"(
## The same bugs, by the criteria of other projects' tests

Each is given our inputs, which are harder to pass than theirs, and the tolerances, the reference
and the tensors of its own test. Counted are the cells whose dtype it looks at; a case that it
rejects without the bug as well counts as not noticed.

| tests of | killed | ours, in the same cells |
|---|---|---|
)";

std::string limits_introduction(int trials) {
  return R"(
## How small an error is seen

The smallest planted relative error that is seen in 95 % of )" + std::to_string(trials) +
         R"( trials, each with other data
and another place, by bisection on a grid of 8 steps a decade: by our three bounds (HARD, STAT,
CHART of [numerics.md](numerics.md)) and by the criteria of other projects. An *element*, and a row,
is one at least as large as the root mean square; what is wrong in the whole *tensor* or *inside*
the subject is wrong on one rank alone as well, with which those compare that have no independent
reference. `inf`: no error up to 100 is seen; `-`: it does not look there.
)";
}

constexpr const char* kEveryFault = R"(
## Every fault

A cell of the tables names the oracle that noticed first, the cheapest; `ms` is how soon in the
fastest dtype; a dash, that the fault cannot show in this dtype.
)";

constexpr const char* kProfiles =
    "The column of a profile names who saw the fault in the first of its cases that failed, asked\n"
    "as `ringcheck verify` asks; none of them is a case that was chosen for the fault.\n";

}  // namespace

std::string markdown_text(const Detection& detection) {
  const KillMatrix& matrix = detection.matrix;
  return "# Detection\n\n" + in_short(detection) +
         "\nThis page is written by `ringcheck detection` ([cli.md](cli.md#detection)).\n\n" +
         sources_table(detection.sources) + kOracles + as_list(headline(matrix)) +
         headlines(detection.profiles) +
         as_list(self_test_text(matrix.self_test)) + "\n" + oracles_table(matrix) + kPeers +
         peers_table(matrix) + limits_introduction(detection.limits.trials) +
         markdown_text(detection.limits) + "\n## False alarms\n\n" + to_text(detection.alarms) +
         ".\n" + kEveryFault + (detection.profiles.empty() ? "" : kProfiles) +
         fault_tables(matrix, detection.profiles) + "\n## Not killed\n\n" + not_killed(matrix);
}

}  // namespace ringcheck::cli
