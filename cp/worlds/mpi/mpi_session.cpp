// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <stdexcept>

#include "cp/worlds/mpi/mpi_communicator.h"
#include "cp/worlds/mpi_library.h"
#include "cp/worlds/session.h"

namespace ringcheck {
namespace {

class LoadedMpiSession final : public Session {
 public:
  LoadedMpiSession() {
    int initialised = 0, finalised = 0;
    check_mpi(MPI_Finalized(&finalised));
    if (finalised != 0)
      throw std::runtime_error("MPI is finalised in this process and cannot be initialised again; a program that verifies more than "
                               "once calls MPI_Init before the first time and MPI_Finalize after the last");
    check_mpi(MPI_Initialized(&initialised));
    own_ = initialised == 0;
    if (own_) check_mpi(MPI_Init(nullptr, nullptr));
    check_mpi(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_));
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    Contexts contexts;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &contexts.worlds));
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &contexts.groups));
    int* largest = nullptr;
    int known = 0;
    check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &known));
    contexts.most_tags = known != 0 ? *largest : 32767;
    contexts_ = std::make_shared<const Contexts>(contexts);
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  }
  // What the program had stays as it was.
  ~LoadedMpiSession() override {
    if (own_) {
      MPI_Finalize();
      return;
    }
    for (MPI_Comm comm : {contexts_->worlds, contexts_->groups}) MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
    MPI_Errhandler_free(&before_);
  }
  LoadedMpiSession(const LoadedMpiSession&) = delete;
  LoadedMpiSession& operator=(const LoadedMpiSession&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override {
    Group everybody = Group::everybody(size_, rank_);
    everybody.last_id = last_id_;  // what an earlier world left on its way meets no later group
    return mpi_communicator(
        contexts_, Channel{contexts_->worlds, worlds_++ % contexts_->most_tags},
        std::move(everybody), std::make_shared<Ledger>(), deadline);
  }

  void end_all(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::exit(code);
  }

 private:
  bool own_ = true;  // initialised here
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
  std::shared_ptr<const Contexts> contexts_;
  std::shared_ptr<int64_t> last_id_ = std::make_shared<int64_t>(0);
  int rank_ = 0, size_ = 1, worlds_ = 0;
};

// Of the headers that this library was compiled with.
std::string version_text() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." +
         std::to_string(OMPI_MINOR_VERSION) + "." + std::to_string(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#else
  return "MPI " + std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION);
#endif
}

// MPI's launcher has no deadline of ours.
std::unique_ptr<Session> join(std::chrono::milliseconds) {
  return std::make_unique<LoadedMpiSession>();
}

const Meetings::Add registered{"mpi", {join}};
const MpiDescriptions::Add described{"mpi", {version_text}};

}  // namespace
}  // namespace ringcheck
