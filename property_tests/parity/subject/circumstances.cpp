// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/subject/circumstances.h"

#include <stdexcept>

#include "parity/subject/ours.h"

namespace ringcheck::circumstances {

parity::OracleVerdict judged_in(const Case& test, const std::string& oracle,
                                const parity::SharedSubject& subject) {
  parity::RunOptions options;
  options.judging.oracles = {oracle};
  options.subject = subject;
  const parity::Verdict verdict = parity::verify(test, options);
  if (verdict.oracles.empty()) throw std::runtime_error(verdict.reason);
  return verdict.oracles.front();
}

parity::OracleVerdict judged(const std::string& oracle, const std::string& text,
                             const parity::SharedSubject& subject) {
  return judged_in(parity::parse_case("ring:p2p/headtail/b2/hq4/hkv2/s40/d8/dv12/" + text), oracle,
                   subject);
}

parity::SharedSubject spoilt(const Spoil& spoil, std::function<void(parity::Promise&)> promise) {
  return parity::ours_with([spoil](Communicator& comm, const Case& test, const RankInput& input) {
    RankOutput output = parity::context_parallel(comm, test, input);
    spoil(comm, test, input, output);
    return output;
  }, std::move(promise));
}

Status status(const std::string& oracle, const std::string& text, const Spoil& spoil) {
  return judged(oracle, text, spoilt(spoil)).status;
}

std::string with_rope(const std::string& text) { return text + "/rope:interleaved[10000]"; }

Status of_ours(const std::string& oracle, const std::string& text) {
  const bool says_nothing = (oracle == "position-shift" && text.starts_with("doc")) ||
                            (oracle == "groups" && text.ends_with("P1"));
  return says_nothing ? Status::kNotApplicable : Status::kPass;
}

}  // namespace ringcheck::circumstances
