// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/case_options.h"

#include "cli/arguments.h"
#include "parity/case/part.h"

namespace ringcheck::cli {
namespace {

void declare_parts(CLI::App& program, CaseOptions& options,
                   const std::set<std::string>& without) {
  for (const parity::Part& part : options_of_cases())
    if (!without.contains(part.option))
      program.add_option("--" + part.option, options.lists[part.option], part.help)
          ->group("Parts of a case (lists with commas)")
          ->type_name("LIST");
}

void declare_cases(CLI::App& program, CaseOptions& options) {
  const auto group = "Which cases";
  program
      .add_option("--profile", options.asked.profile,
                  "smoke, conformance or stress; parts beside it select among its cases")
      ->group(group)
      ->check(not_empty())
      ->type_name("NAME");
  program.add_option("--model", options.models, "heads, dims, RoPE and masks of published models")
      ->group(group)
      ->check(not_empty())
      ->type_name("LIST");
  program.add_option("--case", options.asked.cases, "exactly this case; may be repeated")
      ->group(group)
      ->check(not_empty())
      ->type_name("TEXT");
  program.add_option("--tensors", options.asked.tensors, "your own q, k, v and, perhaps, do")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE.safetensors");
  const auto clean = [&asked = options.asked](const std::vector<std::string>& words) {
    if (!asked.clean.empty()) throw CLI::ValidationError("--clean", "it is said once; leave one of them out");
    asked.clean = words;
  };
  program.add_option_function<std::vector<std::string>>("--clean", clean, "N random cases that must not fail")
      ->trigger_on_parse()
      ->group(group)
      ->type_name("N [SEED]")
      ->expected(1, 2);
}

}  // namespace

void add_case_options(CLI::App& program, CaseOptions& options,
                      const std::set<std::string>& without) {
  declare_cases(program, options);
  declare_parts(program, options, without);
}

Asked asked_of(const CaseOptions& options) {
  Asked asked = options.asked;
  for (const auto& [name, lists] : options.lists)
    if (!lists.empty())
      asked.parts[name] = split_values("--" + name, lists);
  asked.models = split_values("--model", options.models);
  return asked;
}

}  // namespace ringcheck::cli
