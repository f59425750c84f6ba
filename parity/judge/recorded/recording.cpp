// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/recorded/recording.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parity/case/data_family.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"
#include "parity/judge/oracle.h"
#include "parity/subject/files/outcome_file.h"
#include "parity/subject/files/promise_json.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

constexpr const char* kInputs = "inputs.safetensors";
constexpr const char* kRun = "run.safetensors";

// Of a subject that is not here: what it had promised.
class Absent final : public Subject {
 public:
  explicit Absent(const Recording& recording) : recording_(recording) {}
  std::optional<std::string> refuses(const Case&) const override { return std::nullopt; }
  Promise promise(const Case& test) const override {
    const auto found = recording_.promises.find(to_text(test));
    if (found == recording_.promises.end())
      throw BadCase("no promise was recorded of " + to_text(test) +
                    "; save the case again with ringcheck verify --bundle");
    return found->second;
  }
  RankOutput run(Communicator&, const Case&, const RankInput&) const override {
    throw std::logic_error("a recorded subject does not run");
  }

 private:
  const Recording& recording_;
};

bool asks_the_kernel(const std::string& oracle) {
  return oracle == "counters" || oracle == "memory-growth";
}

Outcome on_cpu(Outcome outcome) {
  for (at::Tensor* x : {&outcome.tensors.o, &outcome.tensors.lse, &outcome.tensors.dq,
                        &outcome.tensors.dk, &outcome.tensors.dv, &outcome.q_rotated,
                        &outcome.k_rotated})
    if (x->defined()) *x = x->cpu();
  for (auto& [name, x] : outcome.others)
    if (x.defined()) x = x.cpu();
  return outcome;
}

int64_t bytes_of(const Outcome& outcome) {
  int64_t bytes = 0;
  for (const auto& [name, x] : file_of(outcome).tensors) bytes += static_cast<int64_t>(x.nbytes());
  return bytes;
}

std::string name_of(const std::string& oracle, size_t run) {
  return oracle + "-" + std::to_string(run) + ".safetensors";
}

Outcome read_outcome(const std::string& path) {
  try {
    return outcome_from(read_safetensors(path));
  } catch (const BadCase&) {
    throw;
  } catch (const std::invalid_argument& error) {
    throw BadCase("'" + path + "' is no recorded run: " + error.what() +
                  "; save the case again with ringcheck verify --bundle");
  }
}

// Further runs of the user's own tensors are made of those in the folder.
Case with_inputs(Case test, const std::string& folder) {
  if (!has_own_tensors(test)) return test;
  if (folder.find_first_of("[],'\n") != std::string::npos)
    throw BadCase("the name '" + folder + "' has a character that a case cannot hold ([ ] , '); "
                  "rename the folder");
  test.data = "tensors[" + folder + "/" + kInputs + "]";
  return test;
}

// What the reference takes for granted of its inputs.
void check_inputs(const std::string& folder, const Case& test, const Problem& p) {
  const auto is = [&](const at::Tensor& x, int64_t heads, int64_t channels) {
    return x.scalar_type() == test.dtype &&
           x.sizes() == at::IntArrayRef({test.batch, heads, test.seq, channels});
  };
  if (!is(p.q, test.q_heads, test.dim) || !is(p.k, test.kv_heads, test.dim) ||
      !is(p.v, test.kv_heads, test.dim_v) || !is(p.d_o, test.q_heads, test.dim_v))
    throw BadCase("'" + folder + "/" + kInputs + "' has other shapes, or another dtype, than " +
                  to_text(test) + "; save the case again with ringcheck verify --bundle");
}

}  // namespace

Recording recording_of(const Trial& trial, const Observed& observed) {
  Recording recording{trial.test, trial.oracles, trial.sample, problem_of(trial.test), {}, {}};
  if (trial.test.device != "cpu") std::erase_if(recording.oracles, asks_the_kernel);
  Observed& kept = recording.observed;
  kept.outcome = on_cpu(observed.outcome);
  kept.no_variations = observed.no_variations;
  const auto note = [&](const Case& test) {
    recording.promises.try_emplace(to_text(test), trial.subject.promise(test));
  };
  note(trial.test);
  for (const auto& [oracle, runs] : observed.variations) {
    for (const Outcome& run : runs) kept.variations[oracle].push_back(on_cpu(run));
    for (const Run& run : Oracles::at(oracle).variations(trial.test)) note(run.test);
  }
  return recording;
}

int64_t bytes_of(const Recording& recording) {
  int64_t bytes = bytes_of(recording.observed.outcome);
  for (const at::Tensor& x : {recording.problem.q, recording.problem.k, recording.problem.v,
                              recording.problem.d_o})
    bytes += static_cast<int64_t>(x.nbytes());
  for (const auto& [oracle, runs] : recording.observed.variations)
    for (const Outcome& run : runs) bytes += bytes_of(run);
  return bytes;
}

Verdict judged(const Recording& recording) {
  const Absent subject(recording);
  return judged(Trial{recording.test, subject, recording.oracles, recording.sample},
                recording.problem, recording.observed);
}

json write_recording(const std::string& folder, const Recording& recording) {
  json content{{"case", to_text(recording.test)},
               {"parts", to_json(recording.test)},
               {"oracles", recording.oracles},
               {"sample", recording.sample},
               {"further_runs", json::object()},
               {"no_further_runs", recording.observed.no_variations},
               {"promises", json::object()},
               {"files", json::array()}};
  const auto write = [&](const std::string& name, const Safetensors& file) {
    write_safetensors(folder + "/" + name, file);
    content["files"].push_back(name);
  };
  const Problem& p = recording.problem;
  write(kInputs, {{{"q", p.q}, {"k", p.k}, {"v", p.v}, {"do", p.d_o}}, {}});
  write(kRun, file_of(recording.observed.outcome));
  for (const auto& [oracle, runs] : recording.observed.variations) {
    content["further_runs"][oracle] = runs.size();
    for (size_t i = 0; i < runs.size(); ++i) write(name_of(oracle, i), file_of(runs[i]));
  }
  for (const auto& [test, promise] : recording.promises) content["promises"][test] = to_json(promise);
  return content;
}

Recording read_recording(const std::string& folder, const json& content) {
  Recording recording;
  recording.test = parse_case(content.at("case"));
  recording.oracles = content.at("oracles").get<std::vector<std::string>>();
  for (const std::string& oracle : recording.oracles) known_name("oracle", oracle, Oracles::all());
  recording.sample = content.at("sample");
  const auto file = [&](const std::string& name) {
    if (!content.at("files").contains(name))
      throw BadCase("'" + folder + "' has a manifest without the file " + name +
                    "; save the case again with ringcheck verify --bundle");
    return folder + "/" + name;
  };
  const Safetensors inputs = read_safetensors(file(kInputs));
  const auto input = [&](const char* name) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end())
      throw BadCase("'" + folder + "/" + kInputs + "' has no tensor " + name +
                    "; save the case again with ringcheck verify --bundle");
    return found->second;
  };
  recording.problem = {input("q"), input("k"), input("v"), input("do")};
  check_inputs(folder, recording.test, recording.problem);
  recording.observed.outcome = read_outcome(file(kRun));
  content.at("no_further_runs").get_to(recording.observed.no_variations);
  for (const auto& [oracle, count] : content.at("further_runs").items())
    for (size_t i = 0; i < count.get<size_t>(); ++i)
      recording.observed.variations[oracle].push_back(read_outcome(file(name_of(oracle, i))));
  const auto here = [&](Case test) { return with_inputs(std::move(test), folder); };
  for (const auto& [test, promised] : content.at("promises").items()) {
    const Promise promise = promise_from_json(promised);
    validate(promise, "recorded");
    recording.promises[to_text(here(parse_case(test)))] = promise;
  }
  recording.test = here(recording.test);
  return recording;
}

}  // namespace ringcheck::parity
