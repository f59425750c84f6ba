// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/launched_run.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <stdexcept>

#include "cli/process/programs.h"
#include "property_tests/reports/json_schema.h"

namespace ringcheck::testing {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

namespace {

int number_of(const std::set<std::string>& verdicts, const nlohmann::json& cases) {
  int number = 0;
  for (const nlohmann::json& test : cases)
    number += verdicts.contains(test["verdict"].get<std::string>()) ? 1 : 0;
  return number;
}

}  // namespace

std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(socket);
  return std::to_string(ntohs(address.sin_port));
}

void LaunchedRun::start(const Words& words) {
  Words all{"/usr/bin/env", "mpirun", "-n", "3", ringcheck_program(), "verify",
            "--json", file("result.json"), "--junit", file("junit.xml")};
  all.insert(all.end(), words.begin(), words.end());
  program_ = std::make_unique<Running>(
      all, std::map<std::string, std::string>{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                              {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                              {"OMPI_MCA_rmaps_base_oversubscribe", "1"}});
}

std::unique_ptr<Running> LaunchedRun::rank(int rank, int world, const std::string& port,
                                           const Words& words) const {
  Words all{ringcheck_program(), "verify", "--json", file("result.json"), "--junit",
            file("junit.xml")};
  all.insert(all.end(), words.begin(), words.end());
  return std::make_unique<Running>(
      all, std::map<std::string, std::string>{{"RANK", std::to_string(rank)},
                                              {"WORLD_SIZE", std::to_string(world)},
                                              {"MASTER_ADDR", "127.0.0.1"},
                                              {"MASTER_PORT", port}});
}

std::vector<Found> LaunchedRun::alive() const {
  std::vector<Found> found = processes_with(folder_.path());
  std::erase_if(found, [](const Found& one) { return !cli::is_alive(one.pid); });
  return found;
}

pid_t LaunchedRun::process(int rank) const {
  EXPECT_TRUE(wait_until(120, [&] {
    return read_text(file("result.json.journal")).find("{\"at\"") != std::string::npos &&
           read_text(file("result.json.journal")).find("\"began\":1") != std::string::npos;
  }));
  const std::string sign = "RANK=" + std::to_string(std::max(rank, 0)) + "\n";
  for (const Found& one : alive()) {
    const bool survives = one.name.starts_with("ringcheck-last");
    const bool is_rank = one.environment.find("_WORLD_" + sign) != std::string::npos ||
                         one.environment.starts_with(sign) ||
                         one.environment.find("\n" + sign) != std::string::npos;
    if (is_rank && survives == (rank < 0)) return one.pid;
  }
  throw std::runtime_error("no process of rank " + std::to_string(rank));
}

Ran LaunchedRun::end() {
  const Ran ran = program_->wait();
  EXPECT_TRUE(wait_until(20, [&] { return alive().empty(); })) << "orphans survive";
  return ran;
}

bool LaunchedRun::exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

nlohmann::json LaunchedRun::result() const {
  const nlohmann::json result = nlohmann::json::parse(read_text(file("result.json")));
  const auto schema =
      nlohmann::json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  EXPECT_THAT(schema_violations(schema, result), IsEmpty());
  EXPECT_TRUE(is_xml(file("junit.xml")));
  const nlohmann::json& cases = result["cases"];
  const std::string junit = read_text(file("junit.xml"));
  EXPECT_THAT(junit, HasSubstr("tests=\"" + std::to_string(cases.size()) + "\" failures=\"" +
                               std::to_string(number_of({"fail"}, cases)) + "\" errors=\"" +
                               std::to_string(number_of({"hang", "crash", "inconclusive"}, cases)) + "\" time="));
  const std::regex skipped("<skipped ");
  EXPECT_EQ(std::distance(std::sregex_iterator(junit.begin(), junit.end(), skipped), {}),
            number_of({"skipped", "not_supported"}, cases));
  EXPECT_EQ(result["summary"]["passed"], number_of({"pass"}, cases));
  return result;
}

nlohmann::json LaunchedRun::second_case(const std::string& verdict) const {
  const nlohmann::json cases = result()["cases"];
  EXPECT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]["verdict"], "pass");
  EXPECT_GT(cases[0]["oracles"].size(), 0U);
  EXPECT_EQ(cases[1]["verdict"], verdict) << cases[1]["reason"];
  EXPECT_EQ(cases[2]["verdict"], "skipped");
  EXPECT_THAT(cases[1]["name"].get<std::string>(), HasSubstr("/s9000/"));
  EXPECT_THAT(cases[2]["reason"].get<std::string>(), HasSubstr("the run ended before it"));
  return cases[1];
}

}  // namespace ringcheck::testing
