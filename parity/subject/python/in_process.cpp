// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/in_process.h"

#include <c10/util/ThreadLocalDebugInfo.h>

#include "cp/error.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

// PyTorch's own operations take whatever is told of memory for its profiler, and read its settings: in Python nobody
// is told but by Python (ringcheck/held.py).
class Untold {
 public:
  Untold() { c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(nullptr); }
  ~Untold() { c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(before_); }
  Untold(const Untold&) = delete;
  Untold& operator=(const Untold&) = delete;

 private:
  std::shared_ptr<c10::ThreadLocalDebugInfo> before_ = c10::ThreadLocalDebugInfo::current();
};

class InProcess final : public Subject {
 public:
  explicit InProcess(LentPython& function) : function_(function) {}

  std::optional<std::string> refuses(const Case& test) const override { return described(test).refusal; }
  Promise promise(const Case& test) const override { return described(test).promise; }
  int most_ranks(const Case& test) const override { return described(test).most_ranks; }
  Case fitted(const Case& test) const override { return described(test).fitted; }

  // The ranks agree on the answer before they give it: where one of them failed, it is that one's on all of them.
  RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const override {
    comm.ledger().enter({"python"});
    const json answer = asked(comm, test, input);
    if (const auto failed = answer.find("failed"); failed != answer.end())
      throw RankFailure(failed->at("rank"), {"python"}, false,
                        "python[" + function_.function() + "]: " + failed->at("why").get<std::string>());
    RankOutput output = output_in_place(answer.at("outputs"), comm.device());
    output.peak_elsewhere = peak_from_python(answer);
    book_messages(answer.at("messages"));
    comm.finish();
    return output;
  }

 private:
  json asked(Communicator& comm, const Case& test, const RankInput& input) const {
    const InputsInPlace inputs(input);
    const Untold untold;
    return function_.ask({{"do", "run"},
                          {"case", case_for_python(test)},
                          {"rank", comm.rank()},
                          {"group", {{"world_ranks", comm.group().world_ranks}}},
                          {"inputs", inputs.list()}});
  }

  Description described(const Case& test) const {
    return function_.descriptions.of(test, [&] {
      try {
        return describe([&](const json& question) { return function_.ask(question); }, test);
      } catch (const PythonFailed& error) {
        throw BadCase("subject python[" + function_.function() + "]: " + error.what());
      }
    });
  }

  LentPython& function_;
};

}  // namespace

SharedSubject in_process(LentPython& function) { return std::make_shared<InProcess>(function); }

}  // namespace ringcheck::parity
