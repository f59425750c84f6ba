// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/opened.h"

namespace ringcheck::cli {

Opened opened(const nlohmann::json& file, reports::Kind kind) {
  if (file.contains("kind"))
    return {reports::environment_from_json(file.at("environment")),
            reports::own_member(file, kind)};
  Opened earlier{{}, file};
  earlier.environment.commit = file.at("commit");
  earlier.environment.cpu = file.at("cpu");
  earlier.environment.cores = file.value("cores", 0);
  earlier.environment.wall_seconds = file.value("seconds", 0.0);
  return earlier;
}

}  // namespace ringcheck::cli
