// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/kernels/wrong_kernels.h"

#include <ATen/ATen.h>

#include <cmath>

#include "cp/attention/partial.h"
#include "parity/faults/decorators/subject.h"

namespace ringcheck {
namespace {

using parity::AroundKernel;
using parity::KernelCall;

// The block of rank 0, on the others.
struct Victim {
  Positions positions;
  bool in(const KernelCall& call) const {
    return call.kv.positions == positions && call.q.positions != positions;
  }
};

AroundKernel lost(Victim victim) {
  return {.after_forward =
              [victim](const KernelCall& call, Partial& part) {
                if (victim.in(call)) part.out.zero_(), part.lse.fill_(-INFINITY);
              },
          .after_backward =
              [victim](const KernelCall& call, Gradients& d) {
                if (victim.in(call)) d.dq.zero_(), d.dk.zero_(), d.dv.zero_();
              }};
}

AroundKernel twice(Victim victim) {
  return {.after_forward = [victim](const KernelCall& call, Partial& part) {
    if (victim.in(call)) part = merge(part, part);
  }};
}

// The block before it once more, at the positions of the one that should have come.
AroundKernel stale(Victim victim) {
  return {.before = [victim, last = at::Tensor()](KernelCall& call) mutable {
    const at::Tensor before = last;
    call.kv = parity::own_copy(call.kv);
    last = call.kv.packed;
    if (victim.in(call) && before.defined()) call.kv.packed = before;
  }};
}

// Queries sit off their positions, but keep their tokens.
AroundKernel shifted(int positions) {
  return {.before = [positions](KernelCall& call) {
    std::vector<Span> spans = call.q.positions.spans();
    for (Span& span : spans) span.begin += positions;
    call.q.positions = spans;
  }};
}

// A key and value of zeros beside those of one block.
AroundKernel leak(Victim victim) {
  return {.after_forward = [victim](const KernelCall& call, Partial& part) {
    if (victim.in(call))
      part = merge(part, {at::zeros_like(part.out), at::zeros_like(part.lse)});
  }};
}

parity::SharedSubject with_victim(AroundKernel (*make)(Victim)) {
  return parity::with_kernel([make](Communicator&, const parity::Case& test) {
    return make({parity::layout_of(test).queries.at(0)});
  });
}

parity::SharedSubject with_queries_shifted(int positions) {
  return parity::with_kernel(
      [positions](Communicator&, const parity::Case&) { return shifted(positions); });
}

}  // namespace

std::vector<WrongSubject> wrong_subjects() {
  return {{"block lost", with_victim(lost)},
          {"block twice", with_victim(twice)},
          {"block stale", with_victim(stale)},
          {"mask one too narrow", with_queries_shifted(-1)},
          {"mask one too wide", with_queries_shifted(1)},
          {"key of zeros leaks", with_victim(leak)}};
}

}  // namespace ringcheck
