// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::cli {

// Refuses what would be lost by writing the contract of a kernel into this file: throws UsageError
// where it holds anything else. Nothing there, or nothing in it, is well.
void check_contract_file(const std::string& path, const std::string& kernel);

}  // namespace ringcheck::cli
