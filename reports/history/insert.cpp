// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/insert.h"

#include <nlohmann/json.hpp>

#include "reports/history/deflate.h"
#include "reports/machine.h"

namespace ringcheck::reports {
namespace {

// The number of a row that is there, or is made now.
int64_t number_of(Statement& row) {
  row.step();
  const int64_t number = row.integer(0);
  row.reset();
  return number;
}

}  // namespace

Inserter::Inserter(Database& database)
    : run_(database,
           "INSERT INTO runs (id, kind, started, commit_id, branch, machine, host, device, command, "
           "version, wall_seconds, cases, passed, failed, not_supported, skipped, inconclusive, hang, "
           "crash, tensors, unjudged) VALUES "
           "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
           "ON CONFLICT (id) DO NOTHING RETURNING run"),
      result_(database, "INSERT INTO results VALUES (?, ?, ?)"),
      series_(database,
              "INSERT INTO series (name, parts, unit, better) VALUES (?, ?, ?, ?) "
              "ON CONFLICT DO UPDATE SET name = excluded.name RETURNING series"),
      point_(database, "INSERT INTO points VALUES (?, ?, ?, ?, ?)"),
      case_(database,
            "INSERT INTO cases (name, parts) VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET parts = excluded.parts RETURNING case_id"),
      verdict_(database, "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

bool Inserter::operator()(const Run& run, const std::string& branch) {
  const int64_t number = insert_run(run, branch);
  if (number == 0) return false;
  result_.reset();
  result_.bind(1, number);
  result_.bind(2, static_cast<int64_t>(run.text.size()));
  result_.bind_bytes(3, deflated(run.text));
  result_.run();
  insert_points(run, number);
  insert_verdicts(run, number);
  return true;
}

int64_t Inserter::insert_run(const Run& run, const std::string& branch) {
  const Environment& e = run.environment;
  const Summary& s = run.summary;
  const std::string machine = nlohmann::json(machine_of(e)).dump();
  run_.with(run.id, to_text(run.kind), e.started, e.commit, branch, machine, e.host, e.device,
            e.command, e.version, double{e.wall_seconds}, s.cases, s.passed, s.failed, s.not_supported,
            s.skipped, s.inconclusive, s.hang, s.crash, run.judged.all, run.judged.nobody);
  const int64_t number = run_.step() ? run_.integer(0) : 0;
  run_.reset();
  return number;
}

void Inserter::insert_points(const Run& run, int64_t number) {
  for (const Run::Point& point : run.points) {
    const int64_t series =
        number_of(series_.with(point.name, point.parts, point.unit, point.better));
    point_.with(series, number, point.median, point.samples, point.keep_to).run();
  }
}

void Inserter::insert_verdicts(const Run& run, int64_t number) {
  for (const Run::Verdict& row : run.verdicts)
    verdict_.with(number_of(case_.with(row.name, row.parts)), number, row.verdict,
                  int64_t{row.contract}, row.finding, row.seconds, row.margin, row.worst_z,
                  row.vacuity, row.unjudged, row.counters)
        .run();
}

}  // namespace ringcheck::reports
