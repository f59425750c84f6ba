// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/oracles/spoilt.h"

#include <algorithm>
#include <stdexcept>

#include "parity/faults/decorators/subject.h"

namespace ringcheck {

parity::Verdict verify_spoilt(const parity::Case& test, const Spoil& spoil,
                              parity::RunOptions options,
                              std::function<void(parity::Promise&)> promise) {
  options.subject =
      parity::with_output([&](parity::RankOutput& output, Communicator& comm,
                              const parity::Case&) { spoil(comm, output); },
                          std::move(promise));
  return parity::verify(test, options);
}

at::Tensor& of(parity::RankOutput& output, const std::string& name) {
  if (name == "o") return output.o;
  if (name == "lse") return output.lse;
  if (name == "dq") return output.dq;
  if (name == "dk") return output.dk;
  if (name == "dv") return output.dv;
  throw std::out_of_range("no tensor " + name);
}

const parity::OracleVerdict& oracle(const parity::Verdict& verdict, const std::string& name) {
  const auto found = std::ranges::find(verdict.oracles, name, &parity::OracleVerdict::name);
  if (found == verdict.oracles.end()) throw std::out_of_range("no oracle " + name);
  return *found;
}

}  // namespace ringcheck
