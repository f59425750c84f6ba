// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/evaluate.h"

#include <ATen/Parallel.h>

#include <optional>
#include <stdexcept>

namespace ringcheck::reference {
namespace {

std::optional<Evaluation>& registered() {
  static std::optional<Evaluation> evaluation;
  return evaluation;
}

const Evaluation& evaluation_of(at::Device device) {
  if (!registered())
    throw std::logic_error("the reference cannot evaluate error bounds on " + device.str());
  return *registered();
}

void of_row(const ForwardFormula& formula, int64_t row) {
  PairSums sums;
  for (int64_t column = 0; column < formula.columns; ++column) sums.add(formula(row, column));
  formula.add_to(row, sums);
}
template <class Formula>
void of_row(const Formula& formula, int64_t row) {
  for (int64_t column = 0; column < formula.columns; ++column) formula(row, column);
}

template <class Formula>
void on_cpu(const Formula& formula, int64_t rows) {
  constexpr int64_t kElements = 4096;  // a piece of work
  at::parallel_for(0, rows, kElements / formula.columns + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) of_row(formula, row);
  });
}

}  // namespace

template <class Formula>
void evaluate(const Formula& formula, int64_t rows, at::Device device) {
  if (device.is_cpu())
    on_cpu(formula, rows);
  else
    std::get<Evaluate<Formula>>(evaluation_of(device))(formula, rows, device);
}

template void evaluate(const ForwardFormula&, int64_t, at::Device);
template void evaluate(const BackwardFormula&, int64_t, at::Device);
template void evaluate(const OutputFormula&, int64_t, at::Device);
template void evaluate(const QueryGradientFormula&, int64_t, at::Device);
template void evaluate(const KeyGradientFormula&, int64_t, at::Device);
template void evaluate(const StoredFormula&, int64_t, at::Device);

RegisteredEvaluation::RegisteredEvaluation(const Evaluation& evaluation) {
  registered() = evaluation;
}

}  // namespace ringcheck::reference
