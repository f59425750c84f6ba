// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/error_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

namespace ringcheck::reference {

at::Tensor ErrorModel::effective(const at::Tensor& n) const {
  return n / contract.kappa + contract.kappa;
}

at::Tensor ErrorModel::operand_rounding(const at::Tensor& x) const {
  return at::minimum((x * contract.u_p).clamp_min_(contract.eta_p), x);
}

at::Tensor ErrorModel::operand_rounding(const at::Tensor& x, const at::Tensor& eta_p) const {
  return at::minimum((x * contract.u_p).clamp_min_(eta_p), x);
}

at::Tensor ErrorModel::output_rounding(const at::Tensor& x) const {
  return x.abs().mul_(contract.u_o).clamp_min_(std::max(contract.eta_o, contract.eta_e));
}

Error product_error(const ErrorModel& model, double terms, const at::Tensor& product,
                    const at::Tensor& magnitude, const at::Tensor& square) {
  const auto& [u_a, u_in, kappa] =
      std::tie(model.contract.u_a, model.contract.u_in, model.contract.kappa);
  const double unit = model.unit_variance();
  return {magnitude * (terms * u_a + 2 * u_in),
          (square * (unit * terms / (2 * kappa) + 2 * u_in * u_in / 3))
              .addcmul_(product, product, unit * (terms / (3 * kappa) + 2))};
}

}  // namespace ringcheck::reference
