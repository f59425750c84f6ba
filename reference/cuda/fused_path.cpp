// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "reference/cuda/fused_attention.h"
#include "reference/tiles/fast_path.h"

namespace ringcheck::reference {
namespace {

FusedSizes sizes_of(const Group& group) {
  return {group.q.size(0), group.q.size(1), group.q.size(2), group.q.size(3), group.d_o.size(3)};
}

bool applies(const Group& group) {
  if (!group.q.is_cuda() || group.q.size(2) != group.k.size(1) || !(group.scale > 0))
    return false;
  const c10::cuda::CUDAGuard current(group.q.device());
  return fused_supports(sizes_of(group));
}

Solution attend_fused(const Group& group, const Tiles& tiles) {
  const c10::cuda::CUDAGuard current(group.q.device());
  const at::Tensor row = at::empty_like(group.q.select(-1, 0), at::MemoryFormat::Contiguous);
  Solution s{.o = at::empty_like(group.d_o), .max = row, .sum = at::empty_like(row),
             .lse = {}, .delta = {}, .dq = {}, .dk = {}, .dv = {}};
  const auto in = [](const at::Tensor& x) { return x.const_data_ptr<double>(); };
  const auto out = [](const at::Tensor& x) { return x.mutable_data_ptr<double>(); };
  const FusedInputs inputs{sizes_of(group), group.scale, in(group.q), in(group.k), in(group.v),
                           tiles.begin.const_data_ptr<int32_t>(),
                           tiles.end.const_data_ptr<int32_t>()};
  fused_forward(inputs, {out(s.o), out(s.max), out(s.sum)}, c10::cuda::getCurrentCUDAStream().stream());
  s.lse = s.sum.log().add_(s.max);
  s.delta = (group.d_o * s.o).sum(-1);
  return s;
}

const RegisteredFastPath registered({"fused", applies, attend_fused});

}  // namespace
}  // namespace ringcheck::reference
