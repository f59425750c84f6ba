// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/reports/json_schema.h"

#include <sstream>
#include <stdexcept>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

constexpr const char* kScript = R"(
import json, sys, jsonschema
schema, document = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.Draft7Validator.check_schema(schema)
for error in jsonschema.Draft7Validator(schema).iter_errors(document):
    place = "".join(f"/{part}" for part in error.absolute_path)
    print(f"{place}: {error.message}".replace("\n", " "))
)";

}  // namespace

std::vector<std::string> schema_violations(const nlohmann::json& schema,
                                           const nlohmann::json& document) {
  const Folder folder;
  write_text(folder.file("schema"), schema.dump());
  write_text(folder.file("document"),
             document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const Ran ran = Running({"/usr/bin/python3", "-c", kScript, folder.file("schema"),
                           folder.file("document")})
                      .wait();
  if (ran.code != 0)
    throw std::runtime_error("no judgement by JSON Schema: " + ran.err);
  std::vector<std::string> violations;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);)
    violations.push_back(line);
  return violations;
}

}  // namespace ringcheck::testing
