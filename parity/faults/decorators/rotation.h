// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "cp/attention/rotation.h"

namespace ringcheck::parity {

// In place of Rotation::next(), on one rank; step counts its calls in a pass.
using Next = std::function<std::optional<KvBlock>(Rotation& rotation, int step)>;
using MakeNext = std::function<Next(Communicator&, const Layout&)>;
RotationOf with_next(RotationOf rotation_of, MakeNext make);

// In place of the calls of a GradientCarrier, on one rank; what is left out stays as it is.
struct AroundCarrier {
  std::function<void(GradientCarrier& carrier, at::Tensor dk, at::Tensor dv, int step)> add = {};
  std::function<PackedKv(GradientCarrier& carrier)> home = {};
};
using MakeCarrier = std::function<AroundCarrier(Communicator&)>;
RotationOf with_carrier(RotationOf rotation_of, MakeCarrier make);

}  // namespace ringcheck::parity
