// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A recorded run, as `ringcheck replay` reads it.
#include "parity/subject/files/outcome_file.h"

#include <ATen/ATen.h>

#include <fstream>
#include <iterator>

#include "cli/process/folder.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& bytes) {
  try {
    const parity::Safetensors file = parity::read_safetensors(file_of(bytes));
    const parity::Outcome outcome = parity::outcome_from(file);
    const parity::Safetensors again = parity::file_of(outcome);
    demand(outcome.ranks.empty() || again.tensors.at("ranks").equal(file.tensors.at("ranks")),
           "what ranks counted is written as it was read");
    demand(parity::same_values(outcome, parity::outcome_from(again)), "tensors are those of the file");
  } catch (const std::invalid_argument&) {  // parity::BadCase among them
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const cli::TemporaryFolder folder;
  parity::Outcome outcome{};
  outcome.tensors.o = at::ones({1, 1, 2, 1});
  outcome.tensors.lse = at::ones({1, 1, 2});
  outcome.others["bias"] = at::ones({1});
  outcome.missing = {"dq: not returned"};
  outcome.withheld = {"dk"};
  outcome.ranks.resize(2);
  for (parity::RankRecord& rank : outcome.ranks) rank.sent_to = rank.received_from = {0, 1};
  parity::write_safetensors(folder.file("file"), parity::file_of(outcome));
  std::ifstream stream(folder.file("file"), std::ios::binary);
  return {{std::istreambuf_iterator<char>(stream), {}}};
}

const Parsers::Add add{"outcome_file", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
