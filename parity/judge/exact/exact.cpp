// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/exact.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <limits>

#include "parity/judge/expected/expected.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::parity {
namespace {

using reference::Range;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TensorVerdict compare_exact(const Case& test, const std::string& name, const at::Tensor& actual,
                            const at::Tensor& expected, const at::Tensor& error) {
  TensorVerdict verdict;
  verdict.tensor = name;
  if (!actual.defined()) {
    verdict.status = Status::kNotApplicable;
    return verdict;
  }
  if (actual.sizes() != expected.sizes()) {
    verdict.status = Status::kFail;
    verdict.max_abs = kInfinity;
    verdict.worst = c10::str("shape ", actual.sizes(), ", expected ", expected.sizes());
    return verdict;
  }
  const at::Tensor got = actual.to(at::kDouble);
  const at::Tensor value = expected.to(actual.device()), off = error.to(actual.device());
  const auto rounded = [&](const at::Tensor& x) { return x.to(actual.scalar_type()).to(at::kDouble); };
  const at::Tensor right = (rounded(value - off) <= got) & (got <= rounded(value + off));
  const at::Tensor distance =
      (got - value).abs_().masked_fill_(got.eq(value), 0).nan_to_num_(kInfinity, kInfinity);
  verdict.compared = right.numel();
  if (distance.numel() > 0) verdict.max_abs = distance.max().item<double>();
  if (right.all().item<bool>()) {
    verdict.judged_by = judged_exactly(test);
    return verdict;
  }
  const at::Tensor wrong = right.logical_not().view(-1).nonzero();
  const int64_t first = wrong[0].item<int64_t>();
  verdict.status = Status::kFail;
  verdict.worst = c10::str(place_of(test, value.sizes(), first), ": got ",
                           got.reshape(-1)[first].item<double>(), ", expected exactly ",
                           rounded(value).reshape(-1)[first].item<double>(), "; ", wrong.size(0),
                           " of ", value.numel(), " elements are wrong");
  return verdict;
}

TensorVerdict compare_exact(const Case& test, const std::string& name, const at::Tensor& actual,
                            const at::Tensor& expected) {
  return compare_exact(test, name, actual, expected, at::zeros_like(expected));
}

OracleVerdict not_applicable(const std::string& reason) {
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  verdict.findings = {reason};
  return verdict;
}

at::Tensor sum_of_visible(const Evidence& evidence, const at::Tensor& x) {
  const int64_t seq = evidence.test.seq;
  const at::Tensor values = without_pads(evidence.test, x.to(at::kDouble));
  std::vector<at::Tensor> sums;
  for (const Entries& some : entries_of(evidence.test)) {
    const at::Tensor theirs = values.narrow(0, some.first, some.count);
    std::vector<at::Tensor> strips;
    for (const Range rows : reference::ranges(seq, 256)) {
      const at::Tensor seen = reference::visible_pairs(some.mask, rows, {0, seq}).to(x.device());
      strips.push_back(at::matmul(seen.to(at::kDouble), theirs));
      evidence.tick();
    }
    sums.push_back(at::cat(strips, 2).cpu());
  }
  return at::cat(sums);
}

at::Tensor keys_seen(const Case& test) {
  at::Tensor keys = at::empty({test.batch, 1, test.seq}, at::kDouble);
  double* next = keys.data_ptr<double>();
  for (int64_t entry = 0; entry < test.batch; ++entry)
    for (int64_t position = 0; position < test.seq; ++position)
      *next++ = static_cast<double>(keys_seen(test, entry, position));
  return keys;
}

at::Tensor for_query_heads(const Case& test, const at::Tensor& x) {
  return x.cpu().to(at::kDouble).repeat_interleave(test.q_heads / test.kv_heads, 1);
}

}  // namespace ringcheck::parity
