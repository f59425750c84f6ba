// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/doctor/pretended_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The words of a text that a terminal shows in lines.
std::string in_one_line(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  for (std::string word; stream >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

// Answers a query for each file gpu0, gpu1, ... beside it with the values of the fields asked for,
// and refuses a field that the file does not have, as nvidia-smi does.
constexpr const char* kScript = R"(#!/bin/sh
here=${0%/*}
case "$1 $2" in
  "topo -p2p") exec cat "$here/p2p" ;;
  "topo -m") exec cat "$here/links" ;;
esac
case "$1" in
  --query-gpu=*) files=gpu ;;
  --query-remapped-rows=*) files=remapped ;;
  --query-compute-apps=*) exec cat "$here/processes" ;;
  *) exit 3 ;;
esac
for file in "$here/$files"[0-9]*; do
  line=
  for field in $(echo "${1#*=}" | tr , ' '); do
    if ! value=$(grep -a "^$field=" "$file"); then
      echo "Field \"$field\" is not a valid field to query."
      exit 2
    fi
    line="$line${line:+, }${value#*=}"
  done
  echo "$line"
done
)";

const Variables kHealthy{{"name", "NVIDIA H200"},
                         {"driver_version", "580.95.05"},
                         {"compute_cap", "9.0"},
                         {"memory.total", "143771"},
                         {"memory.used", "4"},
                         {"memory.free", "143156"},
                         {"persistence_mode", "Enabled"},
                         {"ecc.mode.current", "Enabled"},
                         {"ecc.errors.uncorrected.volatile.total", "0"},
                         {"ecc.errors.uncorrected.aggregate.total", "0"},
                         {"retired_pages.pending", "[N/A]"},
                         {"clocks.sm", "345"},
                         {"clocks.max.sm", "1980"},
                         {"power.draw", "76.15"},
                         {"power.limit", "700.00"},
                         {"power.default_limit", "700.00"},
                         {"temperature.gpu", "31"},
                         {"clocks_event_reasons.active", "0x0000000000000001"},
                         {"mig.mode.current", "Disabled"},
                         {"compute_mode", "Default"},
                         {"remapped_rows.pending", "0"},
                         {"remapped_rows.failure", "0"}};
const std::string kAccess =
    " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n  X    = Self\n  OK   = Status "
    "Ok\n";
const std::string kLinks =
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\t0-47\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\t0-47\t0\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \n\nLegend:\n\n  X    = Self\n";

}  // namespace

PretendedMachine::PretendedMachine(int gpus) : gpus_(static_cast<size_t>(gpus), kHealthy) {
  program("nvidia-smi", kScript);
  file("p2p", kAccess);
  file("links", kLinks);
  file("processes", "");
  for (int gpu = 0; gpu < gpus; ++gpu)
    change(gpu, "index", std::to_string(gpu));
}

void PretendedMachine::change(int gpu, const std::string& field, const std::string& value) {
  gpus_.at(static_cast<size_t>(gpu))[field] = value;
  rewrite(gpu);
}

void PretendedMachine::remove(int gpu, const std::string& field) {
  gpus_.at(static_cast<size_t>(gpu)).erase(field);
  rewrite(gpu);
}

void PretendedMachine::file(const std::string& name, const std::string& text) const {
  write_text(folder_.file(name), text);
}

void PretendedMachine::program(const std::string& name, const std::string& script) const {
  file(name, script);
  std::filesystem::permissions(folder_.file(name), std::filesystem::perms::owner_all);
}

std::string PretendedMachine::path() const { return folder_.path() + ":/usr/bin:/bin"; }

void PretendedMachine::rewrite(int gpu) const {
  const std::string id = std::to_string(gpu);
  std::string lines = "uuid=GPU-" + id + "\n", remapped = "gpu_uuid=GPU-" + id + "\n";
  for (const auto& [field, value] : gpus_[static_cast<size_t>(gpu)])
    (field.starts_with("remapped") ? remapped : lines) += field + "=" + value + "\n";
  file("gpu" + id, lines);
  file("remapped" + id, remapped);
}

json Diagnosis::finding(const std::string& id) const {
  for (const json& finding : findings())
    if (finding["id"] == id)
      return finding;
  return nullptr;
}

std::set<std::string> Diagnosis::ids(const std::string& beginning) const {
  std::set<std::string> found;
  for (const json& finding : findings())
    if (finding["id"].get<std::string>().starts_with(beginning) && finding["severity"] != "ok")
      found.insert(finding["id"]);
  return found;
}

Diagnosis diagnose(const Variables& environment, const std::string& deadline) {
  const Folder folder;
  Diagnosis diagnosis;
  diagnosis.ran =
      ringcheck({"doctor", "--deadline", deadline, "--json", folder.file("json")}, environment);
  diagnosis.all = json::parse(read_text(folder.file("json")));
  return diagnosis;
}

Diagnosis diagnose(const PretendedMachine& machine) { return diagnose({{"PATH", machine.path()}}); }

void expect(const Diagnosis& diagnosis, const std::string& id, const std::string& severity,
            const std::string& value, const std::string& fix) {
  const json finding = diagnosis.finding(id);
  ASSERT_FALSE(finding.is_null()) << id << "\n" << diagnosis.ran.out;
  EXPECT_EQ(finding["severity"], severity) << id;
  EXPECT_THAT(finding["value"].get<std::string>(), HasSubstr(value)) << id;
  EXPECT_THAT(finding["fix"].get<std::string>(), HasSubstr(fix)) << id;
  const std::string screen = in_one_line(diagnosis.ran.out);
  EXPECT_THAT(screen, HasSubstr(in_one_line(finding["value"].get<std::string>())));
  EXPECT_THAT(screen, HasSubstr(in_one_line(finding["fix"].get<std::string>())));
}

}  // namespace ringcheck::testing
