// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "parity/subject/promise.h"

namespace ringcheck::parity {

// All of a promise, to the last bit of its constants.
nlohmann::json to_json(const Promise& promise);
Promise promise_from_json(const nlohmann::json& json);  // throws nlohmann::json::exception

}  // namespace ringcheck::parity
