// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/selection.h"

#include <c10/util/StringUtil.h>

#include <map>
#include <set>

#include "cli/arguments.h"
#include "cli/subcommand.h"
#include "cli/verify/inspect.h"
#include "cli/verify/models.h"
#include "cli/verify/profiles.h"
#include "cli/workers/sharing/dealing.h"
#include "cp/device/cuda_library.h"
#include "parity/case/data/soft_data.h"
#include "parity/case/text.h"
#include "parity/subject/foreign/nearest_case.h"
#include "parity/subject/subject.h"

namespace ringcheck::cli {
namespace {

using parity::Case;

constexpr int64_t kMostCases = 1'000'000;

std::string count_text(size_t count, const std::string& what) {
  return std::to_string(count) + (count == 1 ? " case" : " cases") + " of " + what;
}

// Only one of the ways to name cases may be used; lists of parts go with some of them.
void check_one_way(const Asked& asked) {
  std::vector<std::string> ways;
  if (!asked.profile.empty())
    ways.push_back("--profile");
  if (!asked.models.empty())
    ways.push_back("--model");
  if (!asked.cases.empty())
    ways.push_back("--case");
  if (!asked.tensors.empty())
    ways.push_back("--tensors");
  if (!asked.clean.empty())
    ways.push_back("--clean");
  if (ways.size() > 1)
    contradict(ways[0], ways[1], "each says which cases to run");
}

void exclude(const Asked& asked, const std::string& way, const std::vector<std::string>& names,
             const std::string& why) {
  for (const std::string& name : names)
    if (asked.parts.count(name) > 0)
      contradict(way, "--" + name, why);
}

std::vector<std::string> all_parts() {
  std::vector<std::string> names;
  for (const parity::Part& part : options_of_cases())
    names.push_back(part.option);
  return names;
}

void check_size(const PartLists& values) {
  int64_t count = 1;
  for (const auto& [name, list] : values) {
    count *= static_cast<int64_t>(list.size());
    if (count > kMostCases)
      throw UsageError("the lists ask for more than " + std::to_string(kMostCases) +
                       " cases; shorten them");
  }
}

Selection of_texts(const Asked& asked) {
  exclude(asked, "--case", all_parts(), "a case says every part itself");
  Selection selection;
  std::set<std::string> known;  // however it is spelt, a case is said once
  for (const std::string& text : asked.cases)
    if (const parity::Case test = parity::parse_case(text); known.insert(parity::to_text(test)).second)
      selection.cases.push_back(test);
  selection.single = selection.cases.size() == 1;
  selection.what = count_text(selection.cases.size(), "the command line");
  return selection;
}

Selection of_tensors(const Asked& asked) {
  exclude(asked, "--tensors",
          {"seq", "heads", "kv-heads", "dim", "dim-v", "batch", "dtype", "data"},
          "the file says it");
  Case base;
  set_from_tensors(asked.tensors, base);
  PartLists values = asked.parts;
  values["seq"] = {std::to_string(base.seq)};
  Selection selection{product(values, base), "", false};
  selection.single = selection.cases.size() == 1;
  selection.what = count_text(selection.cases.size(), "the tensors in " + asked.tensors);
  return selection;
}

Selection of_models(const Asked& asked) {
  exclude(asked, "--model", {"heads", "kv-heads", "dim", "dim-v", "rope"}, "the model says it");
  Selection selection;
  std::vector<std::string> names;
  for (const std::string& name : asked.models) {
    const Model& model = model_named(name);
    PartLists values = asked.parts;
    values["heads"] = {model.heads};
    values["kv-heads"] = {model.kv_heads};
    values["dim"] = {model.dim};
    values["dim-v"] = {model.dim_v};
    values["rope"] = {model.rope};
    if (values.count("mask") == 0)
      values["mask"] = model.masks;
    check_size(values);
    for (Case& test : product(values, {}))
      selection.cases.push_back(std::move(test));
    names.push_back(name + (model.note.empty() ? "" : " (" + model.note + ")"));
  }
  selection.single = selection.cases.size() == 1;
  selection.what = count_text(selection.cases.size(), c10::Join(", ", names));
  return selection;
}

int64_t integer(const std::string& text, const char* what) {
  try {
    const int64_t value = parity::parse_size(text);
    if (value >= 0)
      return value;
  } catch (const parity::BadCase&) {
  }
  throw UsageError("--clean: '" + text + "' is not a " + what + "; want from 1 to " +
                   std::to_string(kMostCases) + " cases and a seed, for example --clean 1000 7");
}

// The one device that was asked for beside a list of cases that is made for it.
std::string device_of(const Asked& asked) {
  const auto given = asked.parts.find("device");
  if (given == asked.parts.end())
    return "cpu";
  Case probe;
  probe.device = given->second.front();
  if (given->second.size() > 1)
    throw UsageError("--device takes one value here; run the other one by itself");
  parity::validate(probe);
  return probe.device;
}

Selection of_random(const Asked& asked) {
  std::vector<std::string> drawn = all_parts();
  std::erase(drawn, "device");
  exclude(asked, "--clean", drawn, "clean cases draw every part");
  const int64_t count = integer(asked.clean[0], "number of cases");
  const int64_t seed = asked.clean.size() > 1 ? integer(asked.clean[1], "seed") : 1;
  if (count < 1 || count > kMostCases)
    throw UsageError("--clean " + asked.clean[0] + ": the number of cases must be from 1 to " +
                     std::to_string(kMostCases));
  Selection selection;
  selection.cases = clean_cases(count, static_cast<uint64_t>(seed), device_of(asked));
  selection.what = std::to_string(count) + " random clean cases, seed " + std::to_string(seed);
  return selection;
}

// The nearest case that a subject takes, of data that suit it. One that is as long as it is because its window
// is narrow is asked for shorter, where the nearest mask shows all of it.
Case nearest_to(Case test) {
  const auto subject = parity::subject_of(test);
  Case nearest = nearest_case(*subject, test);
  if (nearest == test) return test;
  Case as_wide = test;
  as_wide.dim = nearest.dim, as_wide.dim_v = nearest.dim_v;
  const double seconds = 1.5 * seconds_of(as_wide);
  const bool narrow = std::holds_alternative<Window>(parity::mask_of(test).kind);
  for (; narrow && seconds_of(nearest) > seconds && test.seq > 2 * test.world; nearest = nearest_case(*subject, test))
    test.seq /= 2;
  parity::suit_data(nearest);
  return nearest;
}

// Several cases may have the same nearest one.
std::vector<Case> fitted(const std::vector<Case>& cases) {
  std::vector<Case> taken;
  std::set<std::string> seen;
  for (const Case& test : cases) {
    const Case nearest = nearest_to(test);
    if (seen.insert(parity::to_text(nearest)).second) taken.push_back(nearest);
  }
  return taken;
}

Selection of_profile(const Asked& asked) {
  const std::string name = asked.profile.empty() ? "smoke" : asked.profile;
  Selection selection{fitted(filtered(cases_of(profile(name), device_of(asked)), asked.parts)), "", false};
  if (selection.cases.empty())
    throw UsageError("no case of profile " + name +
                     " has all of these values at once; "
                     "leave --profile out to run their combinations");
  selection.what = count_text(selection.cases.size(), "profile " + name);
  return selection;
}

// What was said stays; of the rest a subject from outside is asked for what it takes.
Case fitted_beside(const Case& test, const PartLists& said) {
  Case nearest = parity::subject_of(test)->fitted(test);
  try {
    for (const parity::Part& part : options_of_cases())
      if (said.contains(part.option)) part.parse(nearest, part.print(test));
    parity::validate(nearest);
    return nearest;
  } catch (const parity::BadCase&) {
    return test;
  }
}

Selection of_lists(const Asked& asked) {
  Selection selection{product(asked.parts, {}), "", false};
  for (Case& test : selection.cases)
    if (!test.is_ours()) test = fitted_beside(test, asked.parts);
  selection.single = selection.cases.size() == 1;
  selection.what = count_text(selection.cases.size(), "the given lists");
  return selection;
}

Selection of_any(const Asked& asked) {
  if (!asked.cases.empty())
    return of_texts(asked);
  if (!asked.tensors.empty())
    return of_tensors(asked);
  if (!asked.models.empty())
    return of_models(asked);
  if (!asked.clean.empty())
    return of_random(asked);
  const bool only_device = asked.parts.size() == asked.parts.count("device");
  if (!asked.profile.empty() || only_device)
    return of_profile(asked);
  return of_lists(asked);
}

// What a case says of tensors in a file is what the file holds.
void check_tensors(const std::vector<Case>& cases) {
  std::map<std::string, Case> files;
  for (const Case& test : cases) {
    const parity::Call data = parity::parse_call(test.data);
    if (data.name != "tensors")
      continue;
    const std::string path = data.arguments.at(0);
    const auto [file, is_new] = files.try_emplace(path);
    if (is_new)
      set_from_tensors(path, file->second);
    for (const char* name : {"batch", "heads", "kv_heads", "seq", "dim", "dim_v", "dtype"}) {
      const parity::Part& part = parity::part(name);
      const std::string said = part.print(test), held = part.print(file->second);
      if (said != held)
        throw UsageError("the tensors in '" + path + "' have " + part.option + " " + held +
                         ", the case says " + said + "; say what they have, or use --tensors");
    }
  }
}

std::string seed_text(const std::vector<Case>& cases) {
  std::set<uint64_t> seeds;
  for (const Case& test : cases)
    seeds.insert(test.seed);
  return seeds.size() == 1 ? "seed " + std::to_string(*seeds.begin())
                           : "each with its own fixed seed";
}

}  // namespace

Selection select(const Asked& asked) {
  check_one_way(asked);
  check_size(asked.parts);
  Selection selection = of_any(asked);
  for (const Case& test : selection.cases)
    parity::subject_of(test);  // or throws: there is none of that name
  if (asked.tensors.empty())
    check_tensors(selection.cases);
  if (parity::any_on_cuda(selection.cases) && why_no_cuda())
    throw UsageError(*why_no_cuda());
  if (asked.clean.empty())
    selection.what += ", " + seed_text(selection.cases);
  return selection;
}

}  // namespace ringcheck::cli
