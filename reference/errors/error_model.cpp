// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/error_model.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringcheck::reference {

at::Tensor ErrorModel::effective(const at::Tensor& n) const {
  return n / contract.kappa + contract.kappa;
}

at::Tensor ErrorModel::lost(const at::Tensor& n) const { return (n * contract.lost_of(1)).square(); }

at::Tensor ErrorModel::flushed(const at::Tensor& n) const { return n * contract.eta_e; }

at::Tensor ErrorModel::output_rounding(const at::Tensor& x) const {
  return x.abs().mul_(contract.u_o).clamp_min_(std::max(contract.eta_o, contract.eta_e));
}

}  // namespace ringcheck::reference
