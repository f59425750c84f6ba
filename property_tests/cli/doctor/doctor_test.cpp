// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What `ringcheck doctor` says of the rest of a machine, and how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cli/doctor/pretended_machine.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Doctor, JsonHasItsMembersAndTheExitCodeFollowsTheErrors) {
  for (const char* ecc : {"0", "3"}) {
    PretendedMachine machine;
    machine.change(1, "ecc.errors.uncorrected.volatile.total", ecc);
    const Diagnosis seen = diagnose(machine);
    EXPECT_EQ(seen.machine()["driver"], "580.95.05");
    EXPECT_EQ(seen.machine()["gpus"].size(), 2U);
    EXPECT_EQ(seen.machine()["gpus"][1]["memory.total"], "143771");
    EXPECT_EQ(seen.machine()["links"][0]["between"], json({"GPU0", "GPU1"}));
    EXPECT_EQ(seen.machine()["links"][0]["link"], "NV18");
    EXPECT_EQ(seen.machine()["links"][0]["p2p"], "OK");
    EXPECT_TRUE(seen.machine().contains("libraries"));
    EXPECT_EQ(seen.all["environment"]["command"], "ringcheck doctor");
    int errors = 0;
    for (const json& finding : seen.findings()) {
      EXPECT_EQ(finding.size(), 5U);
      for (const char* member : {"id", "what", "value", "fix"})
        EXPECT_TRUE(finding[member].is_string()) << finding;
      EXPECT_THAT(finding["severity"].get<std::string>(), AnyOf("ok", "note", "warning", "error"));
      errors += finding["severity"] == "error" ? 1 : 0;
    }
    EXPECT_EQ(seen.ran.code, errors > 0 ? 1 : 0) << seen.ran.out << seen.ran.err;
    EXPECT_EQ(seen.finding("gpu.1.ecc").is_null(), std::string(ecc) == "0");
  }
}

TEST(Doctor, NamesNeedNotBeUtf8) {
  PretendedMachine machine;
  machine.change(0, "name", "NVIDIA \xff\x1b[31m");
  const Diagnosis seen = diagnose(machine);
  EXPECT_THAT(seen.machine()["gpus"][0]["name"].get<std::string>(), HasSubstr("NVIDIA"));
  expect(seen, "gpu.0", "ok", "NVIDIA   [31m, capability", "");
}

TEST(Doctor, StdoutTakesTheJsonAlone) {
  const Ran ran = ringcheck({"doctor", "--json", "-"}, {{"PATH", "/usr/bin:/bin"}});
  EXPECT_EQ(json::parse(ran.out)["kind"], "doctor");
  EXPECT_THAT(ran.err, HasSubstr("Host\n"));
}

TEST(Doctor, HarmfulVariablesAreSaid) {
  struct Set {
    const char* name;
    const char* value;
    const char* severity;
    const char* says;
  };
  const Set table[] = {{"NVIDIA_TF32_OVERRIDE", "1", "error", "TF32"},
                       {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "true", "error", "TF32"},
                       {"NCCL_P2P_DISABLE", "1", "warning", "NVLink"},
                       {"NCCL_SHM_DISABLE", "1", "warning", "sockets"},
                       {"NCCL_ALGO", "Ring", "warning", "algorithm"},
                       {"NCCL_PROTO", "LL", "warning", "protocol"},
                       {"NCCL_DEBUG", "INFO", "warning", "logs"},
                       {"CUDA_LAUNCH_BLOCKING", "1", "warning", "overlaps"},
                       {"CUDA_VISIBLE_DEVICES", "", "warning", "hides every GPU"}};
  Variables harmful;
  for (const Set& set : table)
    harmful[set.name] = set.value;
  const Diagnosis seen = diagnose(harmful);
  for (const Set& set : table)
    expect(seen, std::string("variable.") + set.name, set.severity, set.says,
           std::string("unset ") + set.name);
  EXPECT_EQ(seen.ran.code, 1);

  const Diagnosis harmless = diagnose({{"NVIDIA_TF32_OVERRIDE", "0"},
                                       {"NCCL_P2P_DISABLE", "0"},
                                       {"NCCL_DEBUG", "WARN"},
                                       {"NCCL_NVLS_ENABLE", "0"},
                                       {"CUDA_VISIBLE_DEVICES", "0,1"}});
  expect(harmless, "variable.harmful", "ok", "none", "");
  expect(harmless, "variable.others", "note", "CUDA_VISIBLE_DEVICES=0,1, NCCL_DEBUG=WARN", "");
  expect(harmless, "variable.multicast", "note", "partly on: NCCL_NVLS_ENABLE=0",
         "NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1");
}

// A folder with a libcuda.so.1 that a C compiler makes of this text.
void make_driver(const Folder& folder, const std::string& text) {
  write_text(folder.file("driver.c"), text);
  Running compiler({"/usr/bin/cc", "-shared", "-fPIC", "-o", folder.file("libcuda.so.1"),
                    folder.file("driver.c")});
  ASSERT_EQ(compiler.wait().code, 0);
}

TEST(Doctor, DriversThatAreOldOrBrokenAreErrors) {
  struct Driver {
    const char* text;
    const char* id;
    const char* says;
  };
  const Driver drivers[] = {
      {"int cuDriverGetVersion(int* v) { *v = 12040; return 0; }", "library.driver_old",
       "is for CUDA 12.4, but the runtime is 13."},
      {"int cuDriverGetVersion(int* v) { *(volatile int*)0 = *v; return 0; }", "library.driver",
       "loading it: "},
      {"int cuDriverGetVersion(int* v) { for (;;) { } }", "library.driver", "no answer within"},
      {"int cuDriverGetVersion(int* v) { return 100; }", "library.driver", "fails"},
      {"int nothing;", "library.driver", "cuDriverGetVersion fails"}};
  for (const Driver& driver : drivers) {
    const Folder folder;
    make_driver(folder, driver.text);
    const Diagnosis seen = diagnose({{"LD_LIBRARY_PATH", folder.path()}}, "6");
    expect(seen, driver.id, "error", driver.says, "driver");
    EXPECT_EQ(seen.ran.code, 1);
  }
}

TEST(Doctor, WithoutMpirunMpiCasesAreSkipped) {
  const Folder empty;
  const Diagnosis seen = diagnose({{"PATH", empty.path()}});
  expect(seen, "mpi.mpirun", "warning", "not in PATH", "apt-get install openmpi-bin");
  EXPECT_THAT(seen.machine()["gpus"], IsEmpty());
}

TEST(Doctor, AnotherMpirunIsAnError) {
  const PretendedMachine machine;
  machine.program("mpirun", "#!/bin/sh\nprintf 'HYDRA build details:\\n    Version:   4.0.2\\n'\n");
  expect(diagnose(machine), "mpi.version", "error", "MPICH 4.0.2, but", "first in PATH");
}

TEST(Doctor, RefusesWhatCannotBe) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "/nonexistent/file"}, {"--deadline", "0"}, {"--no"}}) {
    std::vector<std::string> all{"doctor"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = ringcheck(all);
    EXPECT_EQ(ran.code, 2) << words[0];
    EXPECT_THAT(ran.out, IsEmpty()) << words[0];
  }
}

}  // namespace
}  // namespace ringcheck::testing
