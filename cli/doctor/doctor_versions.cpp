// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which versions of the libraries go together.
#include <torch/version.h>

#include "cli/doctor/doctor_libraries.h"
#include "cli/doctor/probe.h"

namespace ringcheck::cli {
namespace {

using Libraries = std::map<std::string, Library>;

constexpr int kBuiltWithNccl = 22809;  // ci/requirements/cuda.txt pins it
constexpr int kFirstGoodCudnn = 91002;
constexpr int kCudnnWindowBug = 91400;
constexpr const char* kPinned = "install what ci/requirements pins";

std::string dotted(int version, int major, int minor, int patch) {
  std::string text =
      std::to_string(version / major) + "." + std::to_string(version % major / minor);
  return patch == 0 ? text : text + "." + std::to_string(version % minor / patch);
}
std::string cuda_text(int version) { return dotted(version, 1000, 10, 0); }
std::string nccl_text(int version) {
  return version < 10000 ? dotted(version, 1000, 100, 1) : dotted(version, 10000, 100, 1);
}
std::string cudnn_text(int version) { return dotted(version, 10000, 100, 1); }

int version_of(const Libraries& libraries, const std::string& name, const std::string& function) {
  const auto library = libraries.find(name);
  if (library == libraries.end() || library->second.versions.count(function) == 0)
    return 0;
  return library->second.versions.at(function);
}

// What is said of one library, unless its version is wrong.
struct Shown {
  const char* name;
  const char* function;
  const char* id;
  const char* what;
  std::string (*text)(int);
  const char* absent_fix;
};
const Shown kShown[] = {
    {"libcuda.so.1", "cuDriverGetVersion", "library.driver", "CUDA driver", cuda_text,
     "install the NVIDIA driver; in a container docker run --gpus all with "
     "NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
    {"libcudart.so.13", "cudaRuntimeGetVersion", "library.runtime", "CUDA runtime", cuda_text,
     kPinned},
    {"libnccl.so.2", "ncclGetVersion", "library.nccl", "NCCL", nccl_text, kPinned},
    {"libcudnn.so.9", "cudnnGetVersion", "library.cudnn", "cuDNN", cudnn_text, kPinned}};

Finding shown(const Shown& show, const Libraries& libraries, bool gpus) {
  const auto found = libraries.find(show.name);
  const int version = version_of(libraries, show.name, show.function);
  if (version > 0)
    return {show.id, Severity::kOk, show.what, show.text(version) + "  " + found->second.path, ""};
  const std::string failure = found == libraries.end() || found->second.failure.empty()
                                  ? std::string(show.function) + " fails"
                                  : found->second.failure;
  const bool absent = failure.find("No such file") != std::string::npos;
  Finding finding{show.id, Severity::kError, show.what, failure, show.absent_fix};
  if (absent && !gpus)
    return {show.id, Severity::kNote, show.what, "not here; runs on the CPU do without", ""};
  return finding;
}

void judge_driver(const Libraries& libraries, std::vector<Finding>& findings) {
  const int driver = version_of(libraries, "libcuda.so.1", "cuDriverGetVersion");
  const int runtime = version_of(libraries, "libcudart.so.13", "cudaRuntimeGetVersion");
  if (driver > 0 && runtime > 0 && driver / 1000 < runtime / 1000)
    findings.push_back({"library.driver_old", Severity::kError, "CUDA driver",
                        "is for CUDA " + cuda_text(driver) + ", but the runtime is " +
                            cuda_text(runtime) + ", which needs driver 580 or newer: no GPU works",
                        "install driver 580 or newer, or the package cuda-compat-13-0 on a data "
                        "centre GPU"});
}

void judge_nccl(const Libraries& libraries, std::vector<Finding>& findings) {
  const int nccl = version_of(libraries, "libnccl.so.2", "ncclGetVersion");
  if (nccl > 0 && nccl != kBuiltWithNccl)
    findings.push_back({"library.nccl_other", Severity::kWarning, "NCCL",
                        nccl_text(nccl) + " is loaded, but LibTorch was built with " +
                            nccl_text(kBuiltWithNccl) +
                            ": speed and order of sums differ from what was measured",
                        kPinned});
}

void judge_cudnn(const Libraries& libraries, std::vector<Finding>& findings) {
  const int cudnn = version_of(libraries, "libcudnn.so.9", "cudnnGetVersion");
  const int its_runtime = version_of(libraries, "libcudnn.so.9", "cudnnGetCudartVersion");
  const int runtime = version_of(libraries, "libcudart.so.13", "cudaRuntimeGetVersion");
  if (cudnn > 0 && cudnn < kFirstGoodCudnn)
    findings.push_back({"library.cudnn_broken", Severity::kError, "cuDNN",
                        cudnn_text(cudnn) + ": attention is broken before 9.10.2", kPinned});
  if (cudnn == kCudnnWindowBug)
    findings.push_back({"library.cudnn_window", Severity::kWarning, "cuDNN",
                        "9.14.0 computes sliding windows wrongly", kPinned});
  if (its_runtime > 0 && runtime > 0 && its_runtime / 1000 != runtime / 1000)
    findings.push_back({"library.cudnn_runtime", Severity::kError, "cuDNN",
                        "is built for CUDA " + cuda_text(its_runtime) + ", but the runtime is " +
                            cuda_text(runtime),
                        kPinned});
}

}  // namespace

std::vector<Finding> judge_libraries(const Libraries& libraries, bool gpus) {
  std::vector<Finding> findings{
      {"library.torch", Severity::kOk, "LibTorch", "built with " TORCH_VERSION, ""}};
  for (const Shown& show : kShown)
    findings.push_back(shown(show, libraries, gpus));
  judge_driver(libraries, findings);
  judge_nccl(libraries, findings);
  judge_cudnn(libraries, findings);
  return findings;
}

}  // namespace ringcheck::cli
