// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/files/cases_folder.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cp/words.h"
#include "parity/case/data_family.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"
#include "parity/subject/run.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

const std::string kNobody = "subject:files/";  // before the text of a question

std::string folder_of(size_t number) { return "case-" + std::to_string(number); }

std::string own_tensors(size_t number) { return folder_of(number) + "/tensors.safetensors"; }

// The global position of each slot; -1 where it holds no token.
at::Tensor positions_of(const Case& test, const Positions& positions) {
  std::vector<int64_t> numbers = flatten(positions);
  for (int64_t& position : numbers)
    if (!is_token(mask_of(test), position)) position = -1;
  return at::tensor(numbers, at::kLong);
}

std::vector<int64_t> shape_of(const std::string& name, const Case& test, int64_t slots) {
  const bool of_keys = name == "dk" || name == "dv" || name == "k";
  std::vector<int64_t> shape{test.batch, of_keys ? test.kv_heads : test.q_heads, slots};
  if (name != "lse") shape.push_back(name == "o" || name == "dv" ? test.dim_v : test.dim);
  return shape;
}

json shapes_of(const Case& test, int64_t slots) {
  json shapes = json::object();
  for (const std::string& name : kAnswers)
    if (name.size() > 1 || name == "o" || test.rope.pairing != Rope::Pairing::kNone)
      shapes[name] = shape_of(name, test, slots);
  return shapes;
}

// The question of a case, in whose text a file of the user's own tensors is one of this folder.
Case question_of(Case test, size_t number) {
  if (has_own_tensors(test)) test.data = "tensors[" + own_tensors(number) + "]";
  return test;
}

}  // namespace

std::string question_text(Case test) {
  test.subject = "files";
  return to_text(test).substr(kNobody.size());
}

std::string input_name(size_t number, int rank) {
  return c10::str(folder_of(number), "/rank-", rank, ".in.safetensors");
}

std::string output_name(size_t number, int rank) {
  return c10::str(folder_of(number), "/rank-", rank, ".out.safetensors");
}

void write_cases(const std::string& folder, const std::vector<Case>& cases,
                 const std::function<void()>& after_each_file) {
  json content{{"cases", json::array()}, {"files", json::array()}};
  const auto write = [&](const std::string& name, const Safetensors& file) {
    write_safetensors(folder + "/" + name, file);
    content["files"].push_back(name);
    if (after_each_file) after_each_file();
  };
  for (size_t number = 0; number < cases.size(); ++number) {
    const Case& test = cases[number];
    std::filesystem::create_directory(folder + "/" + folder_of(number));
    json ranks = json::array();
    for (int rank = 0; rank < test.world; ++rank) {
      const RankInput input = input_of(Run{test}, rank);
      const Problem& local = input.local;
      write(input_name(number, rank),
            {{{"q", local.q}, {"k", local.k}, {"v", local.v}, {"do", local.d_o},
              {"positions", positions_of(test, input.positions)}},
             {{"rank", std::to_string(rank)}, {"world", std::to_string(test.world)},
              {"mask", mask_text(test.mask)}, {"scale", number_text(scale_of(test))},
              {"rope", rope_text(test.rope)}, {"seq", std::to_string(test.seq)}}});
      ranks.push_back({{"input", input_name(number, rank)},
                       {"output", output_name(number, rank)},
                       {"shapes", shapes_of(test, count(input.positions))}});
    }
    if (has_own_tensors(test)) {
      const Problem whole = problem_of(test);
      write(own_tensors(number),
            {{{"q", whole.q}, {"k", whole.k}, {"v", whole.v}, {"do", whole.d_o}}, {}});
    }
    json parts = to_json(test);
    for (const char* name : {"subject", "strategy", "rotation", "kernel", "world_kind", "device"})
      parts.erase(name);
    content["cases"].push_back({{"case", question_text(question_of(test, number))},
                                {"parts", parts},
                                {"scale", scale_of(test)},
                                {"ranks", ranks}});
  }
  write_manifest(folder, kCases, std::move(content));
}

std::vector<Question> read_cases(const std::string& folder, const Answering& answering) {
  if (folder.find_first_of("[],'\n") != std::string::npos)
    throw BadCase("the name '" + folder + "' has a character that a case cannot hold ([ ] , '); "
                  "rename the folder");
  const json manifest = read_manifest(folder, kCases);
  std::vector<Question> cases;
  try {
    for (const json& entry : manifest.at("cases")) {
      const std::string text = entry.at("case");
      Case test = parse_case(kNobody + text);
      test.subject = "files[" + folder;
      for (const std::string& name : answering.shows) test.subject += "," + name;
      if (answering.contract) test.subject += "," + kContract + *answering.contract;
      test.subject += "]";
      if (has_own_tensors(test)) test.data = "tensors[" + folder + "/" + own_tensors(cases.size()) + "]";
      cases.push_back({text, std::move(test)});
    }
  } catch (const json::exception& error) {
    throw BadCase("'" + folder + "' has a manifest that is not what its version says: " +
                  words_of(error) + "; give a folder as " + kCases.made_by + " writes it");
  }
  return cases;
}

RankOutput read_answer(const std::string& folder, size_t number, const Case& test, int rank) {
  const std::string path = folder + "/" + output_name(number, rank);
  const auto refuse = [&](const std::string& what) {
    throw BadCase("'" + path + "' " + what);
  };
  if (!std::filesystem::exists(path))
    refuse(c10::str("is not there: rank ", rank, " of case ", number, " has given nothing back; write "
                    "it with o, lse, dq, dk and dv"));
  const Safetensors file = read_safetensors(path);
  const int64_t slots = count(layout_of(test).queries.at(rank));
  RankOutput answer;
  const std::map<std::string, at::Tensor*> places{
      {"o", &answer.o},   {"lse", &answer.lse}, {"dq", &answer.dq},       {"dk", &answer.dk},
      {"dv", &answer.dv}, {"q", &answer.q_rotated}, {"k", &answer.k_rotated}};
  for (const auto& [name, x] : file.tensors) {
    const auto place = places.find(name);
    if (place == places.end())
      refuse("has a tensor '" + name + "'; want o, lse, dq, dk and dv, and with RoPE q and k as they "
             "were attended");
    const std::vector<int64_t> shape = shape_of(name, test, slots);
    if (x.sizes() != at::IntArrayRef(shape) || !x.is_floating_point())
      refuse(c10::str("has ", name, " of shape ", x.sizes(), " and dtype ", x.scalar_type(), "; want ",
                      at::IntArrayRef(shape), " of a floating dtype"));
    *place->second = x;
  }
  return answer;
}

}  // namespace ringcheck::parity
