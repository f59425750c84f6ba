// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_variables.h"

#include <c10/util/StringUtil.h>
#include <unistd.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <set>
#include <vector>

#include "cli/doctor/probe.h"

namespace ringcheck::cli {
namespace {

bool on(const std::string& text) {
  static const std::set<std::string> kWords{"1", "y", "yes", "on", "true"};
  return kWords.count(boost::algorithm::to_lower_copy(text)) == 1;
}
bool any(const std::string& text) { return !text.empty(); }
bool talkative(const std::string& text) {
  return boost::algorithm::istarts_with(text, "info") ||
         boost::algorithm::istarts_with(text, "trace");
}
bool hides_all(const std::string& text) { return text.empty() || text.front() == '-'; }

struct Harmful {
  const char* name;
  bool (*harms)(const std::string& value);
  Severity severity;
  const char* effect;
};

constexpr Harmful kHarmful[] = {
    {"NVIDIA_TF32_OVERRIDE", on, Severity::kError,
     "all float32 products are rounded to TF32, float32 checks must fail"},
    {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", on, Severity::kError,
     "LibTorch rounds float32 products to TF32, float32 checks must fail"},
    {"CUDA_VISIBLE_DEVICES", hides_all, Severity::kWarning, "hides every GPU"},
    {"CUDA_LAUNCH_BLOCKING", on, Severity::kWarning,
     "the host waits for every kernel, nothing overlaps: times are wrong"},
    {"NCCL_P2P_DISABLE", on, Severity::kWarning,
     "NCCL uses no NVLink, traffic goes through the host"},
    {"NCCL_SHM_DISABLE", on, Severity::kWarning, "NCCL uses sockets where it has no P2P"},
    {"NCCL_P2P_LEVEL", any, Severity::kWarning, "limits between which GPUs NCCL uses P2P"},
    {"NCCL_ALGO", any, Severity::kWarning, "fixes NCCL's algorithm: its speed and order of sums"},
    {"NCCL_PROTO", any, Severity::kWarning, "fixes NCCL's protocol: its speed"},
    {"NCCL_MAX_NCHANNELS", any, Severity::kWarning, "limits NCCL's bandwidth"},
    {"NCCL_MAX_CTAS", any, Severity::kWarning, "limits NCCL's bandwidth"},
    {"NCCL_DEBUG", talkative, Severity::kWarning, "NCCL writes logs while it is timed"}};

// Each with the value that switches multicast off.
const Variables kMulticast{{"NCCL_NVLS_ENABLE", "0"},
                           {"NVSHMEM_DISABLE_NVLS", "1"},
                           {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"}};

Finding multicast(const Variables& variables) {
  std::vector<std::string> states, missing;
  for (const auto& [name, off] : kMulticast) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second != off)
      missing.push_back(name + "=" + off);
    states.push_back(name + (found == variables.end() ? " unset" : "=" + excerpt(found->second)));
  }
  if (missing.empty())
    return {"variable.multicast", Severity::kNote, "NVLink multicast",
            "off: " + c10::Join(", ", states),
            ""};
  return {"variable.multicast", Severity::kNote, "NVLink multicast",
          (missing.size() < states.size() ? "partly on: " : "on where the GPUs have it: ") +
              c10::Join(", ", states) + "; sums in the switch may differ from run to run",
          "to compare bit for bit: export " + c10::Join(" ", missing)};
}

}  // namespace

Examined examine_variables(const Variables& variables) {
  Examined seen;
  Variables relevant;
  std::set<std::string> said;
  for (const auto& [name, off] : kMulticast)
    said.insert(name);
  for (const Harmful& harmful : kHarmful) {
    const auto found = variables.find(harmful.name);
    if (found == variables.end() || !harmful.harms(found->second))
      continue;
    said.insert(harmful.name);
    seen.add(
        {"variable." + found->first, harmful.severity, found->first,
         "\"" + (found->second.empty() ? "" : excerpt(found->second)) + "\": " + harmful.effect,
         "unset " + found->first});
  }
  std::vector<std::string> others;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with("NCCL_") && name != "CUDA_VISIBLE_DEVICES" && said.count(name) == 0)
      continue;
    relevant[name] = value;
    if (said.count(name) == 0)
      others.push_back(name + "=" + excerpt(value));
  }
  if (seen.findings.empty())
    seen.add({"variable.harmful", Severity::kOk, "harmful ones", "none", ""});
  if (!others.empty())
    seen.add({"variable.others", Severity::kNote, "also set", c10::Join(", ", others), ""});
  seen.add(multicast(variables));
  seen.facts["variables"] = relevant;
  return seen;
}

Variables own_variables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace ringcheck::cli
