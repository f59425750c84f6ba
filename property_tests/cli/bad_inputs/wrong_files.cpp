// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are none, that hold something else, or that cannot be written; variables of the
// environment that say nonsense.
#include <algorithm>

#include "property_tests/cli/bad_inputs/bad_inputs.h"

namespace ringcheck::testing {
namespace {

using Words = std::vector<std::string>;

const std::string kResults = RINGCHECK_SOURCE_DIR "/reports/results/";
const std::string kVerify = kResults + "cpu_smoke.json", kFaults = kResults + "cpu_faults.json",
                  kLimits = kResults + "cpu_sensitivity.json",
                  kClean = kResults + "cpu_clean.summary.json";

// Calls that read a file, which FILE stands for, and one of ours that is of another kind.
struct Reads {
  Words words;
  std::string other;
};
const std::vector<Reads>& reads() {
  static const std::vector<Reads> all{
      {{"report", "FILE"}, kFaults},
      {{"report", "add", "NEW", "FILE"}, RINGCHECK_SOURCE_DIR "/reports/mutants.json"},
      {{"report", "add", "FILE", kVerify}, kVerify},
      {{"report", "list", "FILE"}, kVerify},
      {{"report", "show", "FILE", "latest"}, kVerify},
      {{"report", "export", "FILE", "latest"}, kVerify},
      {{"report", "prune", "FILE", "--keep", "3"}, kVerify},
      {{"result", "recover", "FILE", "--json", "NEW"}, kVerify},
      {{"compare", "FILE", kVerify}, kFaults},
      {{"compare", kVerify, "FILE"}, kFaults},
      {{"compare", kVerify, kVerify, "--history", "FILE"}, kVerify},
      {{"verify", "--case", "seed3", "--waivers", "FILE"}, kVerify},
      {{"guard", "FILE"}, kVerify},
      {{"replay", "FILE"}, kVerify},
      {{"judge", "FILE"}, kVerify},
      {{"verify", "--subject", "files[FILE]"}, kVerify},
      {{"verify", "--tensors", "FILE"}, kVerify},
      {{"verify", "--data", "tensors[FILE]"}, kVerify},
      {{"verify", "--case", "tensors[FILE]"}, kVerify},
      {{"faults", "--merge", "FILE"}, kVerify},
      {{"faults", "--merge", kFaults, "FILE"}, kFaults},
      {{"detection", "FILE", kLimits, kClean}, kVerify},
      {{"detection", kFaults, "FILE", kClean}, kFaults},
      {{"detection", kFaults, kLimits, "FILE"}, kFaults},
      {{"detection", kFaults, kLimits, kClean, "--profile", "FILE"}, kFaults}};
  return all;
}

Words with_file(Words words, const std::string& file, const Material& material) {
  for (std::string& word : words) {
    if (word == "NEW") word = material.own.file("new");
    if (const size_t at = word.find("FILE"); at != std::string::npos) word.replace(at, 4, file);
  }
  return words;
}

BadInput unreadable(Dice& dice, const Material& material) {
  const std::string file = dice.of(material.unreadable);
  const Reads& call = dice.of(reads());
  return {with_file(call.words, file, material), {"'" + file + "'"}, {}};
}

BadInput of_another_kind(Dice& dice, const Material& material) {
  const Reads& call = dice.of(reads());
  return {with_file(call.words, call.other, material), {"'" + call.other + "'", "--merge"}, {}};
}

BadInput overwritten(Dice& dice, const Material& material) {
  const std::string file = dice.of(Words{kVerify, material.folder + "/bytes",
                                         material.folder + "/half.json", RINGCHECK_SOURCE_DIR
                                         "/kernels/flash.contract.json"});
  return {{"calibrate", "--contract", file}, {"'" + file + "'"}, {"contract"}};
}

// Options that name a file which is written.
BadInput unwritable(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  const Described& option = dice.of(command.options);
  const Words writes{"--json", "--junit", "--markdown", "--contract", "--output", "--bundle"};
  if (std::ranges::find(writes, option.name) == writes.end()) return unwritable(dice, material);
  const std::string file = dice.of(material.unwritable);
  Words words = material.call(command.name, option.name);
  words.insert(words.end(), {option.name, file});
  return {words, {"'" + file + "'"}, {}};
}

BadInput no_list_of_refusals(Dice& dice, const Material& material) {
  const std::string folder = dice.of(material.unreadable);
  return {{"refusals", "--against", folder}, {"'" + folder}, {}};
}

BadInput no_place(Dice& dice, const Material& material) {
  const std::string place =
      dice.of(Words{material.folder + "/missing", material.folder + "/blank", "/proc"});
  const Words words = dice.toss() ? Words{"verify", "--case", "s16/P2/float32"}
                                  : Words{"faults", "--fault", "M13", "--jobs", "2"};
  return {words, {place}, {}, {{"TMPDIR", place}}};
}

BadInput no_rank(Dice& dice, const Material&) {
  using Variables = std::map<std::string, std::string>;
  const std::vector<std::pair<Variables, std::string>> launchers{
      {{{"TORCHELASTIC_RUN_ID", "7"}, {"WORLD_SIZE", "2"}}, "RANK"},
      {{{"TORCHELASTIC_RUN_ID", "7"}, {"RANK", "0"}}, "WORLD_SIZE"},
      {{{"OMPI_COMM_WORLD_SIZE", "2"}}, "OMPI_COMM_WORLD_RANK"},
      {{{"OMPI_COMM_WORLD_RANK", "0"}}, "OMPI_COMM_WORLD_SIZE"},
      {{}, "MV2_COMM_WORLD_RANK"},
      {{}, "PMI_RANK"},
      {{{"SLURM_STEP_ID", "0"}}, "SLURM_PROCID"},
      {{}, "FLUX_TASK_RANK"},
      {{}, "PMIX_RANK"}};
  auto [variables, name] = dice.of(launchers);
  variables[name] = dice.of(Words{"x", "-1", "1.5", "0x1", "99999999999", "1,2", " 1"});
  return {{"verify", "--list"}, {name + "='" + variables[name] + "'"}, {"number"}, variables};
}

}  // namespace

Mutators wrong_files() {
  return {{"unreadable", unreadable},
          {"unreadable", unreadable},
          {"of another kind", of_another_kind},
          {"overwritten", overwritten},
          {"unwritable", unwritable},
          {"no list of refusals", no_list_of_refusals}};
}

Mutators wrong_environments() { return {{"no place", no_place}, {"no rank", no_rank}}; }

}  // namespace ringcheck::testing
