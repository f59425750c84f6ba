// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::reports {

// Whether it is a moment of the calendar as results have it, 2026-11-22T05:28:01Z: such texts sort as times.
bool is_moment(const std::string& text);

// Whether it is one, or the beginning of one: 2026, 2026-11, 2026-11-22T05.
bool begins_moment(const std::string& text);

}  // namespace ringcheck::reports
