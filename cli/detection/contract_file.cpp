// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/contract_file.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/usage_error.h"

namespace ringcheck::cli {

void check_contract_file(const std::string& path, const std::string& kernel) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) == 0)
    return;
  std::ifstream stream(path);
  const nlohmann::json file = nlohmann::json::parse(stream, nullptr, false);
  const bool contract = file.is_object() && file.contains("kernel") && file["kernel"].is_string() &&
                        file.contains("dtypes") && file.contains("charts");
  if (!contract)
    throw UsageError("'" + path + "' is no numerics contract and would be overwritten; name a "
                     "contract, such as kernels/" + kernel + ".contract.json, or a new file");
  if (const std::string other = file["kernel"]; other != kernel)
    throw UsageError("'" + path + "' is the contract of kernel '" + other +
                     "' and would be overwritten by that of '" + kernel + "'; name another file");
}

}  // namespace ringcheck::cli
