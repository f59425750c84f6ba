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
  known_name("kernel", *kernel, AttentionKernels::all());
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
  validate(promise, test.subject);
  return promise;
}

}  // namespace ringcheck::parity
