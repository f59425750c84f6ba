// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/models.h"

#include <ranges>

#include "cli/usage_error.h"
#include "parity/case/text/nearest.h"

namespace ringcheck::cli {

// As the config.json of each release says.
const std::map<std::string, Model>& models() {
  static const std::map<std::string, Model> table{
      {"llama3-8b", {"32", "8", "128", "128", "half[500000,llama3]", {"causal"}, "", 32}},
      {"llama3-70b", {"64", "8", "128", "128", "half[500000,llama3]", {"causal"}, "", 80}},
      {"qwen3-8b", {"32", "8", "128", "128", "half[1000000]", {"causal"}, "", 36}},
      {"deepseek-v3",
       {"128",
        "128",
        "192",
        "128",
        "none",
        {"causal"},
        "its RoPE turns 64 of 192 channels and is left out",
        61,
        "Planned with K and V as attention reads them, not as the latent vectors that the model keeps."}},
      {"gpt-oss-20b",
       {"64",
        "8",
        "64",
        "64",
        "half[150000]",
        {"window[128]", "causal"},
        "its sinks and the scaling of its RoPE are left out",
        24,
        "Planned as if all layers were causal; the half with a window of 128 tokens takes less."}},
  };
  return table;
}

const Model& model_named(const std::string& name) {
  const auto found = models().find(name);
  if (found != models().end()) return found->second;
  const auto names = std::views::keys(models());
  throw UsageError("--model: " + parity::unknown_name("model", name, {names.begin(), names.end()}));
}

}  // namespace ringcheck::cli
