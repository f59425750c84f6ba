// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/moves.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"
#include "property_tests/test_device.h"

// Many copies at once, on the device of the tests.
namespace ringcheck {
namespace {

// A view [.., ..] of some of a larger tensor, with the strides of a transposed one where it is so drawn.
struct View {
  std::vector<int64_t> sizes;
  int64_t wider;  // channels before those of the view
  bool turned;

  at::Tensor memory(const at::TensorOptions& options) const {
    auto all = sizes;
    all.back() += wider;
    if (turned) std::swap(all[0], all[1]);
    return at::zeros(all, options);
  }
  at::Tensor of(const at::Tensor& memory) const {
    const at::Tensor whole = turned ? memory.transpose(0, 1) : memory;
    return whole.narrow(-1, wider, sizes.back());
  }
};

std::vector<int64_t> drawn_sizes() {
  std::vector<int64_t> sizes;
  for (int64_t dim = *gen::between(2, 5).as("dims"); dim > 1; --dim) sizes.push_back(*gen::between(1, 4).as("size"));
  sizes.push_back(*gen::choice<int64_t>({1, 3, 8, 24, 128, 2056}).as("channels"));
  return sizes;
}

View drawn_view(const std::vector<int64_t>& sizes) {
  return {sizes, *gen::choice<int64_t>({0, 0, 8, 1}).as("wider"), *gen::flag().as("turned")};
}

// Each is the copy that it would be alone, and touches nothing else.
RC_GTEST_PROP(Moves, AreTheirCopiesOneByOne, ()) {
  const at::Device device = test_device();
  std::vector<at::Tensor> written, expected;
  Moves moves;
  for (int64_t i = *gen::between(0, 30).as("moves"); i > 0; --i) {
    const auto sizes = drawn_sizes();
    const View from = drawn_view(sizes), to = drawn_view(sizes);
    const auto options = at::TensorOptions().device(device).dtype(*gen::dtype().as("dtype"));
    const at::Tensor source = from.memory(options);
    source.copy_(normal(source.sizes(), *gen::seed().as("seed")));
    written.push_back(to.memory(options));
    expected.push_back(to.memory(options));
    to.of(expected.back()).copy_(from.of(source));
    moves.add(to.of(written.back()), from.of(source));
  }
  moves.make();
  for (size_t i = 0; i < written.size(); ++i) RC_ASSERT(at::equal(written[i].cpu(), expected[i].cpu()));
  moves.make();  // nothing is left
}

}  // namespace
}  // namespace ringcheck
