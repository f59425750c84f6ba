// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cp/attention/attention_kernel.h"
#include "parity/case/part.h"
#include "parity/faults/fault.h"
#include "parity/judge/runner.h"
#include "property_tests/cli/bad_inputs/bad_inputs.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using Words = std::vector<std::string>;

bool is_name(const std::string& text) { return std::isalpha(static_cast<unsigned char>(text[0])); }

// Parts whose values are names, as options of verify.
std::vector<Named> named_parts() {
  std::vector<Named> all;
  for (const parity::Part& part : parity::parts()) {
    if (!part.values || !is_name(part.standard)) continue;
    Named named{"verify", "--" + part.option, part.values()};
    // What profiles draw beside what can be said: a number, doc:pads.
    std::erase_if(named.names, [&](const std::string& text) {
      return !is_name(text) || (part.name == "mask" && text.find(':') != std::string::npos);
    });
    if (named.names.size() > 1) all.push_back(named);
  }
  return all;
}

Words names_of_faults() {
  Words names;
  for (const auto& [name, fault] : parity::Faults::all()) {
    names.push_back(name);
    names.push_back(fault.group);
    names.insert(names.end(), fault.operators.begin(), fault.operators.end());
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<Named> all_named() {
  std::vector<Named> all = named_parts();
  Words kernels, oracles = parity::all_oracles();
  for (const auto& [name, kernel] : AttentionKernels::all()) kernels.push_back(name);
  oracles.push_back("all");
  const Words profiles = documented_names("--profile"),
              dtypes = parity::part("dtype").values();
  const std::vector<Named> more{{"verify", "--oracles", oracles},
                                {"verify", "--profile", profiles, false},
                                {"verify", "--model", documented_names("--model")},
                                {"faults", "--fault", names_of_faults()},
                                {"faults", "--dtype", dtypes},
                                {"faults", "--oracles", oracles},
                                {"faults", "--kernel", kernels, false},
                                {"faults", "--profile", profiles, false},
                                {"calibrate", "--kernel", kernels, false},
                                {"plan", "--model", documented_names("--model"), false},
                                {"refusals", "--profile", profiles, false}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string smoke() { return RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json"; }

std::string header_of(uint64_t length, const std::string& rest) {
  std::string text(8, '\0');
  for (int byte = 0; byte < 8; ++byte) text[byte] = static_cast<char>(length >> (8 * byte));
  return text + rest;
}

// Names of files in `folder` that hold this.
std::map<std::string, std::string> contents() {
  const std::string result = read_text(smoke());
  const std::string tensor = R"({"q":{"dtype":"F32","shape":[1,1,1,1],"data_offsets":[0,4]}})";
  return {{"blank", ""},
          {"bytes", "\x89\xff\xfe\x01\r\n\x1a" + std::string(300, '\xf7')},
          {"half.json", result.substr(0, 4000)},
          {"deep.json", std::string(100000, '[')},
          {"nested.json", R"({"schema_version":)" + std::string(1000000, '[') +
                              std::string(1000000, ']') + "}"},
          {"doubled.json", R"({"waivers": [], "schema_version": 2, "kind": "verify", "kind": "verify"})"},
          {"array.json", "[1, 2]"},
          {"null.json", "null"},
          {"future.json", R"({"schema_version": 99, "kind": "verify"})"},
          {"kind.json", R"({"schema_version": 2, "kind": 7})"},
          {"bare.json", R"({"schema_version": 2, "kind": "verify"})"},
          {"types.json", R"({"schema_version": 2, "kind": "faults", "environment": []})"},
          {"long.safetensors", header_of(uint64_t{1} << 60, "{}")},
          {"short.safetensors", header_of(tensor.size(), tensor) + "12"},
          {"more.safetensors", header_of(tensor.size(), tensor) + "12345"},
          {"cut.safetensors", header_of(tensor.size(), tensor.substr(0, 20))},
          {"none.safetensors", header_of(2, "{}")}};
}

void make_link(const std::string& to, const std::string& path) {
  if (::symlink(to.c_str(), path.c_str()) != 0) throw std::runtime_error("no link " + path);
}

}  // namespace

Material::Material(std::string in)
    : folder(std::move(in)),
      commands(described_commands()),
      limits(documented_limits()),
      named(all_named()) {
  for (const auto& [name, content] : contents()) {
    write_text(folder + "/" + name, content);
    unreadable.push_back(folder + "/" + name);
  }
  const std::string large = folder + "/large";  // and without a block on the disk
  write_text(large, "");
  std::filesystem::resize_file(large, uintmax_t{100} << 30);
  unreadable.push_back(large);
  const std::string pipe = folder + "/pipe", loop = folder + "/loop";
  if (::mkfifo(pipe.c_str(), 0600) != 0) throw std::runtime_error("no pipe " + pipe);
  make_link(loop, loop);
  make_link(folder + "/nowhere", folder + "/dangling");
  for (const std::string& path : {pipe, loop, folder + "/dangling", folder + "/missing", folder,
                                  std::string("/dev/zero"), std::string("/dev/null")})
    unreadable.push_back(path);
  unwritable = {pipe, folder, folder + "/missing/file", folder + "/blank/file", "/proc/file",
                folder + "/" + std::string(300, 'n')};
  history = own.file("history"), journal = own.file("journal");
  if (ringcheck({"report", "add", history, smoke()}).code != 0) throw std::runtime_error("no history");
  nlohmann::json run = nlohmann::json::parse(read_text(smoke()));
  run["journal"] = 1;
  write_text(journal, run.dump() + "\n");
}

const DescribedCommand& Material::command(const std::string& name) const {
  for (const DescribedCommand& one : commands)
    if (one.name == name) return one;
  throw std::out_of_range("ringcheck --help has no " + name);
}

std::vector<std::string> Material::call(const std::string& name, const std::string& without) const {
  const DescribedCommand& one = command(name);
  const std::string missing = folder + "/missing";
  if (name == "detection") {
    const std::string results = RINGCHECK_SOURCE_DIR "/reports/results/cpu_";
    return {name, results + "faults.json", results + "sensitivity.json",
            results + "clean.summary.json"};
  }
  Words words = one.words(), places;
  for (const Described& option : one.options)
    if (option.is_place())
      places.push_back(option.name == "HISTORY" ? history : option.name == "TIME" ? "one=0.5" : missing);
  if (name == "compare" || name == "report render") places.front() = smoke();
  // Options, each with its value.
  const std::map<std::string, Words> required{{"calibrate", {"--contract", own.file("new")}},
                                              {"plan", {"--seq", "1K", "--model", "llama3-8b"}},
                                              {"result recover", {"--json", own.file("new")}},
                                              {"report html", {"--output", own.file("new")}},
                                              {"report join", {"--output", own.file("new")}},
                                              {"report measured", {"--output", own.file("new")}},
                                              {"report render", {"--as", "junit"}},
                                              {"report prune", {"--before", "1999"}}};
  if (const auto found = required.find(name); found != required.end())
    for (size_t i = 0; i < found->second.size(); i += 2)
      if (found->second[i] != without)
        words.insert(words.end(), {found->second[i], found->second[i + 1]});
  words.insert(words.end(), places.begin(), places.end());
  return words;
}

std::string misspelt(const std::string& name, const Words& known, Dice& dice) {
  const size_t letters = std::min(name.find('['), name.size());
  const size_t first = name.find_first_not_of('-');
  for (;;) {
    std::string word = name;
    const size_t at = first + dice.below(letters - first - 1);
    switch (dice.below(4)) {
      case 0: word.erase(at, 1); break;
      case 1: word.insert(at, 1, word[at]); break;
      case 2: std::swap(word[at], word[at + 1]); break;
      default: word[at] = static_cast<char>('a' + dice.below(26));
    }
    const auto same = [&](const std::string& other) {
      return other == word || other.substr(0, other.find('[')) == word ||
             other.substr(0, other.find(':')) == word;
    };
    if (std::ranges::none_of(known, same)) return word;
  }
}

}  // namespace ringcheck::testing
