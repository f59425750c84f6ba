// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/case.h"
#include "parity/case/regressions.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& text) {
  try {
    const parity::Case test = parity::parse_case(text);
    demand(parity::parse_case(parity::to_text(test)) == test, "the text of a case is the case");
  } catch (const parity::BadCase&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts{parity::to_text({}), "subject:undivided[flash]/s64",
                                 "ring:allgather[keep]/striped[3]/mpi/cuda/scale:0.25",
                                 "docfull[9:12,8:8]/tensors[a.safetensors]"};
  for (const parity::Regression& one : parity::regressions()) texts.push_back(one.text);
  return texts;
}

// Found: its text was another case.
std::vector<std::string> refused() { return {"subject:a[b/s64"}; }

const Parsers::Add add{"case_text", {parse, seeds, refused}};

}  // namespace
}  // namespace ringcheck::fuzz
