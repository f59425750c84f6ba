// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/worker_group.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/process/programs.h"
#include "cli/usage_error.h"
#include "cli/verify/oracles.h"

namespace ringcheck::cli {
namespace {

// Until stacks are shown, and for that of each rank.
constexpr std::chrono::milliseconds kStacks{100}, kStack{60};

// Of the cases, and of the further runs that their oracles ask for.
int most_ranks(const std::vector<parity::Case>& cases, const parity::Judging& judging) {
  int most = 1;
  for (const parity::Case& test : cases) {
    most = std::max(most, test.world);
    for (const std::string& name : oracles_for(judging, test, *parity::subject_of(test)))
      if (const auto& variations = parity::Oracles::at(name).variations)
        for (const parity::Run& run : variations(test))
          most = std::max(most, parity::ranks_of(run));
  }
  return most;
}

// Open MPI: root in a container, more ranks than cores, and this machine alone, also inside the
// allocation of a batch system: the files through which workers speak are here.
std::map<std::string, std::string> mpi_environment() {
  std::map<std::string, std::string> variables{
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      {"OMPI_MCA_plm", "isolated"},
      {"OMPI_MCA_ras", "^slurm,tm,lsf,gridengine,alps"},
      {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
      {"PRTE_MCA_hwloc_default_binding_policy", "none"}};
  if (::geteuid() == 0)
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"})
      variables[name] = "1";
  return variables;
}

Command command(const Transport& transport, const TemporaryFolder& folder,
                const parity::Judging& judging, const Orders& orders) {
  Command result;
  result.output = folder.file("output");
  if (!transport.mpirun.empty()) {
    result.words = {transport.mpirun, "-n", std::to_string(transport.ranks)};
    result.environment = mpi_environment();
  }
  if (transport.threads > 0 && std::getenv("OMP_NUM_THREADS") == nullptr)
    for (const char* name : {"OMP_NUM_THREADS", "RINGCHECK_SHARE_OF_CORES"})  // the second: that no user said the first
      result.environment[name] = std::to_string(transport.threads);
  // Threads that spin while they wait make a busy machine six times slower.
  result.environment["OMP_WAIT_POLICY"] = "passive";
  std::erase_if(result.environment, [](const auto& variable) {
    return std::getenv(variable.first.c_str()) != nullptr;  // what the user set stays
  });
  for (const std::string& word :
       {own_path(), std::string("worker"), std::string("--cases"), folder.file("cases"),
        std::string("--status"), folder.file("status"), std::string("--results"),
        folder.file("results"), std::string("--sample"), std::to_string(judging.sample), std::string("--deck"),
        orders.deck, std::string("--taker"), std::to_string(orders.taker)})
    result.words.push_back(word);
  if (!judging.drawn)
    for (const std::string& word : {std::string("--oracles"), text_of(judging.oracles)})
      result.words.push_back(word);
  for (const auto& [option, value] :
       {std::pair("--plant-in-judging", orders.planted), {"--bundle", orders.bundles}, {"--resume", judging.kept}})
    if (!value.empty()) {
      result.words.push_back(option);
      result.words.push_back(value);
    }
  if (orders.timelines) result.words.push_back("--timeline");
  if (!orders.explained) result.words.push_back("--unexplained");
  if (orders.others_test_devices) result.words.push_back("--no-device-test");
  if (!transport.mpirun.empty()) {
    for (const std::string& word : {std::string("--mpi"), std::to_string(transport.ranks),
                                    std::string("--transport"), orders.transport})
      result.words.push_back(word);
  }
  return result;
}

const TemporaryFolder& with_cases(const TemporaryFolder& folder,
                                  const std::vector<parity::Case>& cases) {
  std::ofstream stream(folder.file("cases"));
  for (const parity::Case& test : cases)
    stream << parity::to_text(test) << "\n";
  if (!stream.flush())
    throw UsageError("cannot write the cases to '" + folder.path() + "': " + std::strerror(errno) +
                     "; let TMPDIR name a folder with more space");
  return folder;
}

}  // namespace

WorkerGroup::WorkerGroup(const Transport& transport, const std::vector<parity::Case>& cases,
                         const parity::Judging& judging, const Orders& orders)
    : status_(StatusFile::create(folder_.file("status"), most_ranks(cases, judging))),
      process_(command(transport, with_cases(folder_, cases), judging, orders)) {}

WorkerGroup::~WorkerGroup() { end(); }

std::vector<Finished> WorkerGroup::take_finished() {
  std::vector<Finished> finished;
  std::ifstream stream(folder_.file("results"));
  stream.seekg(read_);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    const nlohmann::json json = nlohmann::json::parse(line);
    finished.push_back({json.at("index"), reports::case_from_json(json.at("case"))});
  }
  return finished;
}

uint64_t WorkerGroup::progress() const {
  uint64_t sum = 0;
  for (const RankStatus& rank : ranks())
    sum += rank.progress;
  return sum;
}

std::vector<RankStatus> WorkerGroup::ranks() const {
  std::vector<RankStatus> records;
  for (int rank = 0; rank < status_.ranks(); ++rank)
    records.push_back(status_.read(rank));
  return records;
}

std::string WorkerGroup::output() const {
  std::ifstream stream(folder_.file("output"), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void WorkerGroup::show_stacks() const {
  std::set<pid_t> processes;
  for (const RankStatus& rank : ranks())
    if (rank.pid > 0 && runs_with(rank.pid, folder_.file("status"))) processes.insert(rank.pid);
  for (const pid_t process : processes) ::kill(process, SIGUSR2);
  if (!processes.empty())
    std::this_thread::sleep_for(kStacks + kStack * static_cast<int64_t>(ranks().size()));
}

// mpirun may put its ranks into process groups of their own, and a stopped one ignores it.
void WorkerGroup::end() {
  for (const RankStatus& rank : ranks())
    if (rank.pid > 0 && runs_with(rank.pid, folder_.file("status")))
      ::kill(rank.pid, SIGKILL);
  if (!process_.poll())
    process_.end();
}

}  // namespace ringcheck::cli
