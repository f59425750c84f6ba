// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/moves.h"

#include <ATen/ATen.h>

namespace ringcheck {

void Moves::make() {
  if (list_.empty()) return;
  const auto& forms = MoveForms::all();
  const auto form = forms.find(c10::DeviceTypeName(list_.front().to.device().type(), true));
  if (form != forms.end()) form->second(list_);
  for (const Move& move : list_) move.to.copy_(move.from);
  list_.clear();
}

}  // namespace ringcheck
