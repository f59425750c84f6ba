// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/foreign/said.h"

#include "cp/attention/attention_kernel.h"
#include "parity/case/text.h"
#include "parity/subject/contract.h"

namespace ringcheck::parity {
namespace {

reference::Contract contract_by(const Case& test, const std::optional<std::string>& kernel) {
  if (!kernel) return loosest_contract({test.dtype});
  known_name("contract", *kernel, AttentionKernels::all());
  Case like = test;
  like.kernel = *kernel;
  return contract_of(like);
}

}  // namespace

Promise promise_of(const Case& test, const Said& said) {
  Promise promise;
  promise.contract = merging_anyhow(contract_by(test, said.contract));
  promise.partials = said.partials == 0 ? test.world : said.partials;
  if (said.u_angle != 0) promise.u_angle = said.u_angle;
  promise.deterministic = said.deterministic;
  promise.lengths = said.lengths;
  if (said.shows) promise.shows = *said.shows;
  promise.sends = said.sends;
  for (const auto& ranks : {promise.sends.size(), promise.sends.empty() ? 0 : promise.sends.front().size()})
    if (ranks != 0 && ranks != static_cast<size_t>(test.world))
      throw BadCase("subject " + test.subject + " says what " + std::to_string(ranks) + " ranks send; want " +
                    std::to_string(test.world));
  validate(promise, test.subject);
  return promise;
}

}  // namespace ringcheck::parity
