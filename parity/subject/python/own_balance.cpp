// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// How a function in Python cuts the sequence, where it brings a function for that: asked once for a
// length and a world.
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "parity/case/balance/own_balance.h"
#include "parity/case/text.h"
#include "parity/subject/python/lent.h"
#include "parity/subject/python/processes.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

constexpr double kToCut = 60;  // seconds

Positions positions_from(const json& spans) {
  std::vector<Span> list;
  for (const json& span : spans) list.push_back({span.at(0), span.at(1), span.at(2)});
  return list;
}

Layout cut(const std::string& function, const Case& test) {
  try {
    const json question{{"do", "cut"}, {"length", test.seq}, {"world", test.world}};
    const LentPython* lent = lent_python(function);
    const json said = lent != nullptr ? lent->ask(question)
                                      : python_function(function).processes.interpreter()->ask(question, kToCut);
    std::vector<Positions> shards;
    for (const json& spans : said.at("shards")) shards.push_back(positions_from(spans));
    return Layout::of_both(shards);
  } catch (const PythonFailed& error) {
    throw BadCase("subject python[" + function + "]: " + error.what());
  }
}

Layout own_layout(const Case& test) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, int64_t, int>, Layout> known;
  const std::string function = parse_call(test.subject).arguments.at(0);
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace({function, test.seq, test.world});
  if (!is_new) return place->second;
  try {
    return place->second = cut(function, test);
  } catch (...) {
    known.erase(place);
    throw;
  }
}

const OwnBalances::Add registered{"python", own_layout};

}  // namespace
}  // namespace ringcheck::parity
