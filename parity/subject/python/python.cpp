// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The subject "python[FILE:NAME]": a function in Python, each rank in a process of its own with the
// packages of its interpreter. What crosses are bytes: it needs no LibTorch of ours, nor any. One that
// this process lends is asked where it is.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cp/error.h"
#include "parity/subject/python/in_process.h"
#include "parity/subject/python/processes.h"
#include "parity/subject/python/questions.h"
#include "parity/subject/python/stacks.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLook{20}, kForAnother{1000};
constexpr double kToDescribe = 30;  // seconds

// What both kinds say of a case, asked of the interpreter.
class Described {
 public:
  explicit Described(std::string function)
      : name_(std::move(function)), function_(python_function(name_)) {}

  Description of(const Case& test) const {
    return function_.descriptions.of(test, [&] {
      try {
        const auto interpreter = processes().interpreter();
        return describe([&](const json& question) { return interpreter->ask(question, kToDescribe); }, test);
      } catch (const PythonFailed& error) {
        throw BadCase("subject python[" + name_ + "]: " + error.what());
      }
    });
  }

  std::optional<std::string> refuses(const Case& test) const {
    if (test.world_kind != "thread")
      return "python[" + name_ + "] has a process a rank in every world; leave --world-kind out";
    return of(test).refusal;
  }

  // What a rank's process answers. Where it fails, those of all ranks end.
  json asked(int rank, const json& question, PythonProcess& process) const {
    const int ends = processes().ends();
    StackReader stack(rank, process.pid());
    try {
      return process.ask(question, [&] {
        if (processes().ends() != ends) throw Abandoned("another rank failed");
        stack.show_where_asked();
      });
    } catch (const PythonEnded& error) {
      fail(error);
    } catch (const PythonFailed& error) {
      await_another(ends);
      fail(error);
    }
  }

  PythonProcesses& processes() const { return function_.processes; }

 private:
  [[noreturn]] void fail(const PythonFailed& error) const {
    processes().end();
    throw std::runtime_error("python[" + name_ + "]: " + error.what());
  }

  // A rank whose peer has ended raises, too, and is told sooner: the one that ended is to be named.
  void await_another(int ends) const {
    const auto until = std::chrono::steady_clock::now() + kForAnother;
    while (std::chrono::steady_clock::now() < until) {
      if (processes().ends() != ends) throw Abandoned("another rank failed");
      std::this_thread::sleep_for(kLook);
    }
  }

  std::string name_;
  PythonFunction& function_;
};

// A function that is called on every rank.
class Python final : public Subject {
 public:
  explicit Python(std::string function) : described_(std::move(function)) {}

  std::optional<std::string> refuses(const Case& test) const override { return described_.refuses(test); }
  Promise promise(const Case& test) const override { return described_.of(test).promise; }
  int most_ranks(const Case& test) const override { return described_.of(test).most_ranks; }
  Case fitted(const Case& test) const override { return described_.of(test).fitted; }

  RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const override {
    const int rank = comm.world_rank(comm.rank());
    const auto process = described_.processes().of(rank);
    comm.ledger().enter({"python"});
    json question{{"do", "run"},
                  {"case", case_for_python(test)},
                  {"rank", comm.rank()},
                  {"group", meeting(comm, rank, *process)},
                  {"back", process->back().free_from()},
                  {"inputs", inputs_for_python({input}, process->there()).front()}};
    const json answer = described_.asked(rank, question, *process);
    RankOutput output = output_from_python(answer.at("outputs"), process->back(), comm.device());
    output.peak_elsewhere = peak_from_python(answer);
    book_messages(answer.at("messages"));
    comm.finish();
    return output;
  }

 private:
  json meeting(Communicator& comm, int rank, PythonProcess& process) const {
    const std::vector<int>& ranks = comm.group().world_ranks;
    PythonProcesses& processes = described_.processes();
    const int ends = processes.ends();
    const auto here = processes.meetings().next(ranks, rank);
    if (!here->anew) return {{"anew", false}, {"world_ranks", ranks}};
    if (comm.rank() == 0)
      here->offer.set_value(described_.asked(rank, {{"do", "offer"}}, process).at("port"));
    while (here->port.wait_for(kLook) == std::future_status::timeout)
      if (processes.ends() != ends) throw Abandoned("another rank failed");
    return {{"anew", true}, {"world_ranks", ranks}, {"number", here->number}, {"port", here->port.get()}};
  }

  Described described_;
};

// A function that answers for all ranks at once.
class WholePython final : public WholeSubject {
 public:
  explicit WholePython(std::string function) : described_(std::move(function)) {}

  std::optional<std::string> refuses(const Case& test) const override { return described_.refuses(test); }
  Promise promise(const Case& test) const override { return described_.of(test).promise; }
  Case fitted(const Case& test) const override { return described_.of(test).fitted; }

  std::vector<RankOutput> solve(const Case& test, const std::vector<RankInput>& inputs) const override {
    const auto process = described_.processes().of(0);
    const json question{{"do", "solve"},
                        {"case", case_for_python(test)},
                        {"back", process->back().free_from()},
                        {"inputs", inputs_for_python(inputs, process->there())}};
    const json answer = described_.asked(0, question, *process);
    std::vector<RankOutput> outputs;
    for (const json& rank : answer.at("outputs"))
      outputs.push_back(output_from_python(rank, process->back(), inputs.at(0).local.q.device()));
    return outputs;
  }

 private:
  Described described_;
};

const Subjects::Add registered{"python", [](const std::vector<std::string>& arguments) -> SharedSubject {
  if (arguments.size() != 1 || arguments.front().find(':') == std::string::npos)
    throw BadCase("subject python takes a file and the name of a function in it, for example python[mine.py:mine]");
  const std::string& function = arguments.front();
  if (LentPython* lent = lent_python(function)) return in_process(*lent);
  try {
    const auto interpreter = python_function(function).processes.interpreter();
    if (interpreter->hello().at("whole").get<bool>()) return std::make_shared<WholePython>(function);
    return std::make_shared<Python>(function);
  } catch (const PythonFailed& error) {
    throw BadCase("subject python[" + function + "]: " + error.what());
  }
}};

}  // namespace
}  // namespace ringcheck::parity
