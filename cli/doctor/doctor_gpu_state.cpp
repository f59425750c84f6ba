// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the values of one GPU mean.
#include <c10/util/StringUtil.h>

#include <cstdint>
#include <cstdlib>

#include "cli/doctor/doctor_gpus.h"

namespace ringcheck::cli {
namespace {

constexpr double kOldestCapability = 7.5;  // that CUDA 13 has code for
constexpr double kHot = 85;                // degrees Celsius

// The findings of one GPU as they come together.
struct GpuFindings {
  explicit GpuFindings(const Row& row) : gpu(row), index(row.at("index")) {}

  void add(Severity severity, const std::string& id, const std::string& what,
           const std::string& value, const std::string& fix) {
    findings.push_back(
        {"gpu." + index + "." + id, severity, "GPU " + index + " " + what, value, fix});
  }
  std::string text(const std::string& field) const {
    return excerpt(value(gpu, field).value_or("unknown"));
  }
  bool yes(const std::string& field) const {
    return value(gpu, field) == "Yes" || number(gpu, field).value_or(0) > 0;
  }
  std::string smi(const std::string& words) const { return "nvidia-smi -i " + index + " " + words; }

  const Row& gpu;
  std::string index;
  std::vector<Finding> findings;
};

void judge_presence(GpuFindings& seen) {
  for (const auto& [field, found] : seen.gpu)
    if (found.find("requires reset") != std::string::npos ||
        found.find("is lost") != std::string::npos || found == "[Unknown Error]" || found == "ERR!")
      return seen.add(Severity::kError, "state", "state",
                       field + " reads " + excerpt(found) + ": the GPU does not answer",
                       seen.smi("-r") + ", or reboot; dmesg | grep -i xid says what happened");
}

void judge_summary(GpuFindings& seen) {
  const double free = number(seen.gpu, "memory.free").value_or(0) * (1 << 20);
  const double total = number(seen.gpu, "memory.total").value_or(0) * (1 << 20);
  seen.findings.push_back(
      {"gpu." + seen.index, Severity::kOk, "GPU " + seen.index,
       seen.text("name") + ", capability " + seen.text("compute_cap") + ", " + gibibytes(free) +
           " of " + gibibytes(total) + " free, SM at " + seen.text("clocks.sm") + " of " +
           seen.text("clocks.max.sm") + " MHz, " + seen.text("power.draw") + " of " +
           seen.text("power.limit") + " W, " + seen.text("temperature.gpu") + " C",
       ""});
  const auto capability = number(seen.gpu, "compute_cap");
  if (capability && *capability < kOldestCapability)
    seen.add(Severity::kError, "capability", "capability",
              seen.text("compute_cap") + ": CUDA 13 has no code for GPUs below 7.5",
              "use a Turing GPU or newer; hide this one with CUDA_VISIBLE_DEVICES");
}

void judge_memory_cells(GpuFindings& seen) {
  const auto recent = number(seen.gpu, "ecc.errors.uncorrected.volatile.total");
  const auto ever = number(seen.gpu, "ecc.errors.uncorrected.aggregate.total");
  if (value(seen.gpu, "ecc.mode.current") == "Disabled")
    seen.add(Severity::kWarning, "ecc_mode", "ECC",
              "off: a flipped bit would look like a wrong kernel", seen.smi("-e 1") + ", reboot");
  if (recent.value_or(0) > 0)
    seen.add(Severity::kError, "ecc", "ECC",
              short_number(*recent) +
                  " uncorrected memory errors since the driver was loaded: "
                  "results cannot be trusted",
              seen.smi("-r") + " repairs rows; if they come again, replace the GPU");
  else if (ever.value_or(0) > 0)
    seen.add(Severity::kNote, "ecc_ever", "ECC",
              short_number(*ever) +
                  " uncorrected memory errors in its life, none since the driver "
                  "was loaded",
              "");
  if (seen.yes("remapped_rows.failure"))
    seen.add(Severity::kError, "remap", "memory", "broken rows could not be remapped",
              "replace the GPU");
  if (seen.yes("remapped_rows.pending") || seen.yes("retired_pages.pending"))
    seen.add(Severity::kWarning, "remap_pending", "memory",
              "broken rows or pages are in use until the GPU is reset", seen.smi("-r"));
}

void judge_clocks(GpuFindings& seen) {
  const Throttle throttle =
      parse_throttle(value(seen.gpu, "clocks_event_reasons.active").value_or("0"));
  if (!throttle.heat_or_power.empty())
    seen.add(Severity::kWarning, "throttle", "throttled",
              c10::Join(", ", throttle.heat_or_power) + ": measurements would be too slow",
              "let it cool, check fans, air and power cables; " + seen.smi("-q -d PERFORMANCE") +
                  " shows when it is over");
  if (!throttle.settings.empty())
    seen.add(Severity::kNote, "clocks_set", "clocks",
              "held by " + c10::Join(", ", throttle.settings) + ": repeatable, but not the peak",
              seen.smi("-rac") + "; " + seen.smi("-rgc"));
  const auto limit = number(seen.gpu, "power.limit"),
             usual = number(seen.gpu, "power.default_limit");
  if (limit && usual && *limit < *usual)
    seen.add(Severity::kWarning, "power_limit", "power limit",
              short_number(*limit) + " W of the usual " + short_number(*usual) +
                  " W: slower than others of its kind",
              seen.smi("-pl " + short_number(*usual)));
  if (number(seen.gpu, "temperature.gpu").value_or(0) >= kHot)
    seen.add(Severity::kWarning, "hot", "temperature",
              seen.text("temperature.gpu") + " C: about to throttle",
              "check fans and air flow before measuring");
}

void judge_sharing(GpuFindings& seen) {
  const std::string mode = seen.text("compute_mode");
  if (value(seen.gpu, "mig.mode.current") == "Enabled")
    seen.add(Severity::kWarning, "mig", "MIG",
              "on: a rank sees a slice of the GPU, and slices reach each other through host memory "
              "only",
              seen.smi("-mig 0") + " (nothing may run on the GPU)");
  if (mode == "Prohibited")
    seen.add(Severity::kError, "compute_mode", "compute mode", "prohibited: no program may use it",
              seen.smi("-c DEFAULT"));
  else if (mode.starts_with("Exclusive"))
    seen.add(Severity::kWarning, "compute_mode", "compute mode",
              "exclusive: only one process may use it, so one rank a GPU", seen.smi("-c DEFAULT"));
}

}  // namespace

Throttle parse_throttle(const std::string& hexadecimal) {
  struct Reason {
    uint64_t bit;
    const char* name;
    bool setting;
  };
  static constexpr Reason kReasons[] = {
      {0x2, "application clocks", true}, {0x4, "the power cap", false},
      {0x8, "hardware slowdown", false}, {0x10, "sync boost", true},
      {0x20, "heat (software)", false},  {0x40, "heat (hardware)", false},
      {0x80, "power brake", false},      {0x100, "display clocks", true}};
  const uint64_t active = std::strtoull(hexadecimal.c_str(), nullptr, 16);
  Throttle throttle;
  for (const Reason& reason : kReasons)
    if ((active & reason.bit) != 0)
      (reason.setting ? throttle.settings : throttle.heat_or_power).push_back(reason.name);
  return throttle;
}

std::vector<Finding> judge_gpu(const Row& gpu) {
  GpuFindings seen(gpu);
  judge_summary(seen);
  judge_presence(seen);
  judge_memory_cells(seen);
  judge_clocks(seen);
  judge_sharing(seen);
  return std::move(seen.findings);
}

}  // namespace ringcheck::cli
