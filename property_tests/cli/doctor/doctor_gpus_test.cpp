// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What `ringcheck doctor` says of GPUs that a fake nvidia-smi pretends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <set>

#include "property_tests/cli/doctor/pretended_machine.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DoctorOfGpus, NothingIsWrongWithHealthyGpus) {
  const Diagnosis seen = diagnose(PretendedMachine());
  EXPECT_THAT(seen.ids("gpu."), IsEmpty()) << seen.ran.out;
  EXPECT_THAT(seen.ids("link."), IsEmpty()) << seen.ran.out;
  expect(seen, "gpu.driver", "ok", "580.95.05", "");
  expect(seen, "gpu.1", "ok", "NVIDIA H200, capability 9.0, 139.8 GiB of 140.4 GiB free", "");
  expect(seen, "link.p2p", "ok", "between both", "");
  expect(seen, "link.kind", "ok", "NV18", "");
}

// A value of one GPU and what it is called.
struct Ill {
  const char* field;
  const char* value;
  const char* id;
  const char* severity;
  const char* says;
  const char* fix;
};

TEST(DoctorOfGpus, EveryIllOfAGpuHasItsFix) {
  const char* throttle = "clocks_event_reasons.active";
  const Ill ills[] = {
      {throttle, "0x0000000000000040", "throttle", "warning", "heat (hardware)", "fans"},
      {throttle, "0x0000000000000024", "throttle", "warning", "the power cap, heat", "fans"},
      {throttle, "0x0000000000000002", "clocks_set", "note", "application clocks", "-rac"},
      {"ecc.errors.uncorrected.volatile.total", "2", "ecc", "error", "2 uncorrected", "-r"},
      {"ecc.errors.uncorrected.aggregate.total", "5", "ecc_ever", "note", "5 uncorrected", ""},
      {"ecc.mode.current", "Disabled", "ecc_mode", "warning", "off", "-e 1"},
      {"remapped_rows.pending", "1", "remap_pending", "warning", "reset", "-r"},
      {"remapped_rows.failure", "Yes", "remap", "error", "remapped", "replace"},
      {"retired_pages.pending", "Yes", "remap_pending", "warning", "reset", "-r"},
      {"mig.mode.current", "Enabled", "mig", "warning", "on", "-mig 0"},
      {"compute_mode", "Prohibited", "compute_mode", "error", "no program", "-c DEFAULT"},
      {"compute_mode", "Exclusive_Process", "compute_mode", "warning", "one", "-c DEFAULT"},
      {"power.limit", "400.00", "power_limit", "warning", "400 W of the usual 700 W", "-pl 700"},
      {"temperature.gpu", "91", "hot", "warning", "91 C", "fans"},
      {"memory.used", "70000", "busy", "warning", "68.4 GiB", "CUDA_VISIBLE_DEVICES"},
      {"compute_cap", "7.0", "capability", "error", "7.5", "CUDA_VISIBLE_DEVICES"},
      {"clocks.sm", "[GPU requires reset]", "state", "error", "does not answer", "reboot"}};
  PretendedMachine machine(static_cast<int>(std::size(ills)));
  for (size_t gpu = 0; gpu < std::size(ills); ++gpu)
    machine.change(static_cast<int>(gpu), ills[gpu].field, ills[gpu].value);
  const Diagnosis seen = diagnose(machine);
  for (size_t gpu = 0; gpu < std::size(ills); ++gpu) {
    const std::string index = std::to_string(gpu), id = "gpu." + index + "." + ills[gpu].id;
    const bool of_one = std::string(ills[gpu].fix).starts_with("-");
    expect(seen, id, ills[gpu].severity, ills[gpu].says,
           of_one ? "nvidia-smi -i " + index + " " + ills[gpu].fix : ills[gpu].fix);
    EXPECT_EQ(seen.ids("gpu." + index + "."), std::set<std::string>{id});
  }
  EXPECT_EQ(seen.ran.code, 1);
}

TEST(DoctorOfGpus, PersistenceIsSaidOnceForAll) {
  PretendedMachine machine;
  for (const int gpu : {0, 1})
    machine.change(gpu, "persistence_mode", "Disabled");
  const Diagnosis seen = diagnose(machine);
  expect(seen, "gpu.persistence", "note", "off", "nvidia-smi -pm 1");
  EXPECT_EQ(seen.ids("gpu.").size(), 1U);
}

TEST(DoctorOfGpus, OtherProcessesAreNamed) {
  const PretendedMachine machine;
  machine.file("processes", "GPU-0, 4711, 512, /usr/bin/train, with a comma\n");
  const Diagnosis seen = diagnose(machine);
  expect(seen, "gpu.0.busy", "warning", "pid 4711 /usr/bin/train, with a comma", "end the process");
  EXPECT_EQ(seen.ids("gpu.").size(), 1U);
}

TEST(DoctorOfGpus, MissingPeerAccessNamesThePair) {
  const PretendedMachine machine;
  machine.file("p2p", " \tGPU0\tGPU1\t\n GPU0\tX\tTNS\t\n GPU1\tTNS\tX\t\n");
  machine.file("links", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-3\nGPU1\tSYS\t X \t0-3\n");
  const Diagnosis seen = diagnose(machine);
  expect(seen, "link.p2p", "warning", "missing between GPU0-GPU1 (TNS", "IOMMU");
  expect(seen, "link.kind", "note", "SYS between GPU0-GPU1: PCIe and no NVLink", "CUDA_VISIBLE");
  EXPECT_THAT(seen.finding("link.p2p")["value"].get<std::string>(), HasSubstr("host memory"));
}

TEST(DoctorOfGpus, AnOlderNvidiaSmiKnowsFewerFields) {
  PretendedMachine machine;
  for (const int gpu : {0, 1}) {
    for (const char* field : {"clocks_event_reasons.active", "compute_cap", "mig.mode.current"})
      machine.remove(gpu, field);
    machine.change(gpu, "clocks_throttle_reasons.active", gpu == 0 ? "0x1" : "0x8");
  }
  const Diagnosis seen = diagnose(machine);
  expect(seen, "gpu.1.throttle", "warning", "hardware slowdown", "fans");
  expect(seen, "gpu.0", "ok", "capability unknown", "");
  EXPECT_EQ(seen.ids("gpu.").size(), 1U) << seen.ran.out;
}

TEST(DoctorOfGpus, AHangingNvidiaSmiIsAnErrorAndNotAHang) {
  const PretendedMachine machine;
  machine.program("nvidia-smi", "#!/bin/sh\nsleep 300\n");
  const auto begin = std::chrono::steady_clock::now();
  const Diagnosis seen = diagnose({{"PATH", machine.path()}}, "3");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  expect(seen, "gpu.smi", "error", "no answer within 3 s", "reboot");
  EXPECT_EQ(seen.ran.code, 1);
}

TEST(DoctorOfGpus, WhatNvidiaSmiSaysInsteadIsExplained) {
  struct Answer {
    const char* script;
    const char* id;
    const char* severity;
    const char* says;
    const char* fix;
  };
  const Answer answers[] = {
      {"printf 'lorem \\377\\033[31m, ipsum\\n\\n,,,\\n'", "gpu.smi", "warning",
       "cannot be read; it says: lorem   [31m, ipsum", "by hand"},
      {"true", "gpu.smi", "warning", "says: nothing", "by hand"},
      {"echo NVIDIA-SMI has failed; exit 9", "gpu.smi", "error", "exit code 9", "modprobe nvidia"},
      {"kill -SEGV $$", "gpu.smi", "error", "signal 11", "modprobe nvidia"},
      {"echo Failed to initialize NVML: Driver/library version mismatch; exit 18", "gpu.smi",
       "error", "version mismatch", "reboot"},
      {"echo No devices were found; exit 6", "gpu.none", "warning", "no GPU", "--gpus all"},
      {"yes", "gpu.smi", "error", "output without end", "reboot"}};
  for (const Answer& answer : answers) {
    const PretendedMachine machine;
    machine.program("nvidia-smi", std::string("#!/bin/sh\n") + answer.script + "\n");
    const Diagnosis seen = diagnose(machine);
    expect(seen, answer.id, answer.severity, answer.says, answer.fix);
    EXPECT_THAT(seen.machine()["gpus"], IsEmpty());
  }
}

TEST(DoctorOfGpus, TablesThatCannotBeReadAreWarnings) {
  const PretendedMachine machine;
  machine.file("p2p", "GPU0 GPU1\nGPU0 X\n");
  machine.file("links", "Invalid combination of input arguments.\n");
  const Diagnosis seen = diagnose(machine);
  expect(seen, "link.p2p", "warning", "cannot be read", "");
  expect(seen, "link.kind", "warning", "Invalid combination", "");
}

}  // namespace
}  // namespace ringcheck::testing
