// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject "files[FOLDER,TENSOR,...,contract=KERNEL]": what another program wrote into a folder of
// `ringcheck export`. It shows these tensors, and may have the rounding errors of this kernel.
#include <ATen/ATen.h>

#include <algorithm>

#include "parity/case/safetensors.h"
#include "parity/case/text/nearest.h"
#include "parity/subject/files/cases_folder.h"
#include "parity/subject/foreign/said.h"

namespace ringcheck::parity {
namespace {

// A rank's own block of a ring, in two halves as head-tail balancing cuts it, is the most that usual
// implementations merge.
constexpr int kPartialsOfARank = 2;

class Files final : public WholeSubject {
 public:
  Files(std::string folder, const Answering& answering)
      : folder_(std::move(folder)), shows_(answering.shows), contract_(answering.contract), cases_(read_cases(folder_, answering)) {
    if (shows_.empty()) shows_ = {"o", "lse", "dq", "dk", "dv"};
  }

  std::optional<std::string> refuses(const Case& test) const override {
    if (number_of(test) < cases_.size()) return std::nullopt;
    return "'" + folder_ + "' has no such case";
  }

  // Angles in float32.
  Promise promise(const Case& test) const override {
    std::set<std::string> shows = shows_;
    if (test.rope.pairing != Rope::Pairing::kNone) shows.insert({"q", "k"});
    return promise_of(test, {.contract = contract_, .partials = kPartialsOfARank * test.world, .u_angle = 0x1p-24, .shows = shows});
  }

  std::vector<RankOutput> solve(const Case& test,
                                const std::vector<RankInput>& inputs) const override {
    const size_t number = number_of(test);
    std::vector<RankOutput> answers;
    for (int rank = 0; rank < test.world; ++rank) {
      check_input(number, rank, inputs.at(rank).local);
      answers.push_back(read_answer(folder_, number, test, rank));
      leave_out(answers.back());
    }
    return answers;
  }

 private:
  size_t number_of(const Case& test) const {
    return static_cast<size_t>(std::ranges::find(cases_, test, &Question::test) - cases_.begin());
  }

  // The answer is to what was exported, and to nothing else that a further run would ask.
  void check_input(size_t number, int rank, const Problem& asked) const {
    const Safetensors given = read_safetensors(folder_ + "/" + input_name(number, rank));
    for (const auto& [name, x] : {std::pair("q", asked.q), {"k", asked.k}, {"v", asked.v},
                                  {"do", asked.d_o}}) {
      const auto found = given.tensors.find(name);
      if (found == given.tensors.end() || !same_bits(found->second, x))
        throw std::runtime_error(std::string(name) + " is not what '" + folder_ +
                                 "' was written with: it answers one run of each case");
    }
  }

  // What a file has and is not to be judged.
  void leave_out(RankOutput& answer) const {
    for (const auto& [name, tensor] : {std::pair("lse", &answer.lse), {"dq", &answer.dq}, {"dk", &answer.dk}, {"dv", &answer.dv}})
      if (!shows_.contains(name)) *tensor = at::Tensor();
  }

  static bool same_bits(const at::Tensor& a, const at::Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
           ((a == b) | (a.isnan() & b.isnan())).all().item<bool>();
  }

  std::string folder_;
  std::set<std::string> shows_;
  std::optional<std::string> contract_;
  std::vector<Question> cases_;
};

const Subjects::Add registered{"files", [](const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw BadCase("subject files takes a folder of ringcheck export, for example files[answers]");
  const std::vector<std::string> known{"o", "lse", "dq", "dk", "dv"};
  Answering answering;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name.starts_with(kContract)) answering.contract = name.substr(kContract.size());
    else if (std::ranges::find(known, name) == known.end()) throw BadCase(unknown_name("tensor", name, known));
    else answering.shows.insert(name);
  }
  return std::make_shared<Files>(arguments.front(), answering);
}};

}  // namespace
}  // namespace ringcheck::parity
