// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "reports/history/database.h"

namespace ringcheck::reports {

// What a column that holds JSON says, by the limits of files: an object of texts. Throws BadHistory where
// it is none; `of` says which one it is.
nlohmann::json texts_in(const Database& database, const std::string& column, const std::string& of);

}  // namespace ringcheck::reports
