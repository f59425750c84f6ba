// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/fused.h"

#include <ATen/ATen.h>

namespace ringcheck {

const Fused* fused_on(at::Device device) {
  if (device.is_cpu()) return nullptr;
  const auto& forms = FusedForms::all();
  const auto found = forms.find(c10::DeviceTypeName(device.type(), true));
  return found == forms.end() ? nullptr : &found->second;
}

at::Tensor row_dots(const at::Tensor& a, const at::Tensor& b) {
  const Fused* fused = a.is_contiguous() && b.is_contiguous() ? fused_on(a.device()) : nullptr;
  return fused == nullptr ? row_dots_by_tensors(a, b) : fused->row_dots(a, b);
}

at::Tensor row_dots_by_tensors(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType wide = accumulation_type(a.scalar_type());
  return (a.to(wide) * b.to(wide)).sum(-1);
}

}  // namespace ringcheck
