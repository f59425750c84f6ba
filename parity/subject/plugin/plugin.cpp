// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The subject "plugin[libmine.so]": attention from outside, over abi/ringcheck.h.
#include <array>

#include "parity/case/text.h"
#include "parity/subject/plugin/lent.h"
#include "parity/subject/plugin/library.h"
#include "parity/subject/foreign/said.h"

namespace ringcheck::parity {
namespace {

class Plugin final : public Subject {
 public:
  Plugin(std::string library, std::string arguments)
      : library_(std::move(library)), arguments_(std::move(arguments)),
        subject_(plugin_of(library_)) {}

  std::optional<std::string> refuses(const Case& test) const override {
    if (test.world_kind == "thread" && test.world > 1 && subject_.in_threads == 0)
      return "plug-in " + library_ + " takes no ranks that are threads of one process; use "
             "--world-kind mpi, or let it say in_threads";
    if (subject_.refuses == nullptr) return std::nullopt;
    const LentCase lent(test, arguments_, test.world);
    const Asked asked(library_);
    const char* why = subject_.refuses(&lent);
    return why == nullptr ? std::nullopt : std::optional<std::string>(why);
  }

  Promise promise(const Case& test) const override {
    ringcheck_promise said{};
    const LentCase lent(test, arguments_, test.world);
    if (subject_.promise != nullptr) {
      const Asked asked(library_);
      subject_.promise(&lent, &said);
    }
    Said said_here{.partials = said.partials, .u_angle = said.angle_roundoff, .deterministic = said.deterministic != 0,
                   .lengths = said.lengths != 0};
    if (said.contract != nullptr) said_here.contract = said.contract;
    if (said.shows != nullptr) {
      const auto shown = split(said.shows, ',');
      said_here.shows.emplace(shown.begin(), shown.end());
    }
    return promise_of(test, said_here);
  }

  RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const override {
    const LentCase lent_case(test, arguments_, comm.size());
    const LentRanks ranks(comm);
    const LentInput lent_input(input);
    ringcheck_output output{};
    output.size = sizeof output;
    std::array<char, 4096> error{};
    const int32_t code = subject_.run(&lent_case, &ranks, &lent_input, &output, error.data(), error.size());
    RankOutput taken_over = taken(output);
    ranks.rethrow();
    error.back() = 0;
    if (code != 0)
      throw std::runtime_error("plug-in " + library_ + " failed with " + std::to_string(code) +
                               (error.front() == 0 ? "" : ": " + std::string(error.data())));
    comm.finish();
    return taken_over;
  }

 private:
  std::string library_, arguments_;
  const ringcheck_subject& subject_;
};

const Subjects::Add registered{"plugin", [](const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw BadCase("subject plugin names no library; want plugin[libmine.so]");
  return std::make_shared<Plugin>(
      arguments.front(), c10::Join(",", std::vector(arguments.begin() + 1, arguments.end())));
}};

}  // namespace
}  // namespace ringcheck::parity
