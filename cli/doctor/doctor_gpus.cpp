// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_gpus.h"

#include <c10/util/StringUtil.h>

#include <filesystem>
#include <iterator>

#include "cli/doctor/doctor_links.h"
#include "cli/process/programs.h"

namespace ringcheck::cli {
namespace {

const std::vector<std::string> kFields{"index",
                                       "uuid",
                                       "name",
                                       "driver_version",
                                       "compute_cap",
                                       "memory.total",
                                       "memory.used",
                                       "memory.free",
                                       "persistence_mode",
                                       "ecc.mode.current",
                                       "ecc.errors.uncorrected.volatile.total",
                                       "ecc.errors.uncorrected.aggregate.total",
                                       "retired_pages.pending",
                                       "clocks.sm",
                                       "clocks.max.sm",
                                       "power.draw",
                                       "power.limit",
                                       "power.default_limit",
                                       "temperature.gpu",
                                       "clocks_event_reasons.active|clocks_throttle_reasons.active",
                                       "mig.mode.current",
                                       "compute_mode"};
const std::vector<std::string> kRemapFields{"gpu_uuid", "remapped_rows.pending",
                                            "remapped_rows.failure"};
const std::vector<std::string> kProcessFields{"gpu_uuid", "pid", "used_memory", "process_name"};

// Without any GPU: what the kernel's driver knows of, if there is one.
int gpus_of_the_kernel() {
  std::error_code none;
  const std::filesystem::directory_iterator folder("/proc/driver/nvidia/gpus", none);
  return none ? 0 : static_cast<int>(std::distance(begin(folder), end(folder)));
}

Finding without_program() {
  const int gpus = gpus_of_the_kernel();
  if (gpus == 0)
    return {"gpu.none", Severity::kNote, "nvidia-smi",
            "not in PATH, and the kernel has no NVIDIA driver: only the CPU is used", ""};
  return {"gpu.smi", Severity::kWarning, "nvidia-smi",
          "not in PATH, but the driver knows " + std::to_string(gpus) +
              " GPUs: their state cannot be seen",
          "add its folder to PATH; in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility"};
}

// nvidia-smi gave no row that can be read.
Finding without_rows(const Answer& answer) {
  const std::string says = "says: " + excerpt(answer.text);
  if (answer.stopped)
    return {"gpu.smi", Severity::kError, "nvidia-smi",
            answer.failure + ": a GPU or its driver hangs, and so would every program that uses it",
            "look for Xid lines with dmesg | grep -i xid, then reset the GPU (nvidia-smi -r) or "
            "reboot"};
  if (answer.text.find("No devices were found") != std::string::npos)
    return {
        "gpu.none", Severity::kWarning, "nvidia-smi", "finds no GPU: only the CPU is used",
        "in a container pass the GPUs in (docker run --gpus all); else see dmesg | grep -i nvrm"};
  if (answer.text.find("version mismatch") != std::string::npos)
    return {"gpu.smi", Severity::kError, "nvidia-smi", says,
            "the driver was updated while its old kernel module is loaded: reboot"};
  if (!answer.failure.empty())
    return {"gpu.smi", Severity::kError, "nvidia-smi", answer.failure + ", " + says,
            "is the kernel module loaded? modprobe nvidia; dmesg | grep -i nvrm says why not"};
  return {"gpu.smi", Severity::kWarning, "nvidia-smi", "its answer cannot be read; it " + says,
          "run nvidia-smi --query-gpu=index,name --format=csv by hand; is it the driver's own?"};
}

// The rows of a further query; a hang is a finding.
std::vector<Row> further(Examined& seen, const Smi& smi, const std::string& what,
                         const std::vector<std::string>& fields) {
  Queried queried = smi.query(what, fields);
  if (queried.answer.stopped)
    seen.add(without_rows(queried.answer));
  return std::move(queried.rows);
}

void add_remapped(std::vector<Row>& gpus, const std::vector<Row>& remapped) {
  for (Row& gpu : gpus)
    for (const Row& row : remapped)
      if (row.at("gpu_uuid") == value(gpu, "uuid"))
        gpu.insert(row.begin(), row.end());
}

void examine_driver(Examined& seen, const Row& gpu) {
  const std::string driver = value(gpu, "driver_version").value_or("unknown");
  seen.facts["driver"] = driver;
  seen.add({"gpu.driver", Severity::kOk, "driver", driver, ""});
  if (value(gpu, "persistence_mode") == "Disabled")
    seen.add({"gpu.persistence", Severity::kNote, "persistence mode",
              "off: the first call of every program takes seconds, and clocks fall back in between",
              "nvidia-smi -pm 1"});
}

}  // namespace

std::optional<Finding> judge_company(const Row& gpu, const std::vector<Row>& processes) {
  const std::string index = gpu.at("index");
  std::vector<std::string> names;
  for (const Row& process : processes)
    if (process.at("gpu_uuid") == value(gpu, "uuid").value_or("none"))
      names.push_back("pid " + process.at("pid") + " " + excerpt(process.at("process_name")));
  Finding finding{"gpu." + index + ".busy", Severity::kWarning, "GPU " + index + " in use", "",
                  "wait until it is free, end the process, or choose other GPUs with "
                  "CUDA_VISIBLE_DEVICES"};
  const double used = number(gpu, "memory.used").value_or(0) * (1 << 20);
  const double total = number(gpu, "memory.total").value_or(0) * (1 << 20);
  if (names.empty() && used < 0.05 * total)
    return std::nullopt;
  finding.value =
      names.empty() ? "a process that cannot be seen from here" : c10::Join(", ", names);
  finding.value += " has " + gibibytes(used) + " of its memory: measurements would be wrong";
  return finding;
}

Examined examine_gpus(double seconds) {
  Examined seen;
  seen.facts["gpus"] = nlohmann::json::array();
  const auto path = find_program("nvidia-smi");
  if (!path) {
    seen.add(without_program());
    return seen;
  }
  const Smi smi{*path, seconds};
  Queried gpus = smi.query("gpu", kFields);
  if (gpus.rows.empty()) {
    seen.add(without_rows(gpus.answer));
    return seen;
  }
  add_remapped(gpus.rows, further(seen, smi, "remapped-rows", kRemapFields));
  seen.facts["gpus"] = gpus.rows;
  examine_driver(seen, gpus.rows.front());
  if (gpus.answer.text.find("infoROM is corrupted") != std::string::npos)
    seen.add({"gpu.inforom", Severity::kWarning, "infoROM", "a GPU's is corrupted",
              "nvidia-smi -q | grep -i inforom names it; have the GPU serviced"});
  const std::vector<Row> processes = further(seen, smi, "compute-apps", kProcessFields);
  for (const Row& gpu : gpus.rows) {
    for (Finding& finding : judge_gpu(gpu))
      seen.add(std::move(finding));
    if (auto company = judge_company(gpu, processes))
      seen.add(std::move(*company));
  }
  if (gpus.rows.size() > 1)
    seen.join(examine_links(smi));
  return seen;
}

}  // namespace ringcheck::cli
