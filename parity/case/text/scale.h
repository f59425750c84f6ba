// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ringcheck::parity {

// Throws BadCase beyond the limits of a scale of the logits.
void check_scale(double scale);

}  // namespace ringcheck::parity
