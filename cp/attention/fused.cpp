// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/fused.h"

namespace ringcheck {

const Fused* fused_on(at::Device device) {
  if (device.is_cpu()) return nullptr;
  const auto& forms = FusedForms::all();
  const auto found = forms.find(c10::DeviceTypeName(device.type(), true));
  return found == forms.end() ? nullptr : &found->second;
}

}  // namespace ringcheck
