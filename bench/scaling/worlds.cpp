// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/worlds.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "cp/device/moment.h"
#include "cp/worlds/job.h"
#include "cp/worlds/thread_world.h"
#include "parity/judge/runner.h"
#include "parity/subject/graphed.h"

namespace ringcheck::bench {
namespace {

constexpr std::chrono::minutes kDeadline{5};

// What rank 0 of a world of threads comes to; what is timed is not filled with NaN before.
template <class Result>
Result of_first(int size, const parity::Case& test, const std::function<Result(Communicator&)>& body) {
  Result first;
  run({.size = size, .deadline = kDeadline, .device = parity::device_type_of(test), .fills = false},
      [&](Communicator& comm) {
        Result own = body(comm);
        if (comm.rank() == 0) first = std::move(own);
      });
  return first;
}

// Who is verified is who is timed.
parity::RunOptions options_of(Launch launch, int64_t sample) {
  parity::RunOptions options;
  options.deadline = kDeadline;
  options.judging.sample = sample;
  if (launch == Launch::kGraph) options.subject = parity::graphed();
  return options;
}

class Threads final : public Worlds {
 public:
  explicit Threads(int64_t sample) : sample_(sample) {}
  bool speaks() const override { return true; }
  Judged verify(const parity::Case& test, Launch launch) override {
    return judged(parity::verify(test, options_of(launch, sample_)));
  }
  Timing time(const parity::Case& test, const Timed& how) override {
    return of_first<Timing>(test.world, test, [&](Communicator& comm) { return time_passes(comm, test, how); });
  }
  Alone time_alone(const parity::Case& test, const Timed& how) override {
    return of_first<Alone>(devices_of(test), test,
                           [&](Communicator& comm) { return bench::time_alone(comm, test, how); });
  }

 private:
  int64_t sample_;
};

class Ranks final : public Worlds {
 public:
  Ranks(const Launcher& launcher, const std::vector<std::string>& transports, int64_t sample)
      : job_(joined(launcher, transports)), sample_(sample) {
    at::set_num_threads(1);
  }
  bool speaks() const override { return job_->rank() == 0; }
  Judged verify(const parity::Case& test, Launch launch) override {
    const auto world = world_of(test);
    parity::ProcessRanks ranks(*world);
    const auto verdict = parity::verify(test, ranks, options_of(launch, sample_));
    Judged own = verdict ? judged(*verdict) : Judged();
    own.status = static_cast<parity::Status>(world->agree_max(static_cast<int64_t>(own.status)));
    return own;
  }
  Timing time(const parity::Case& test, const Timed& how) override {
    return time_passes(*world_of(test), test, how);
  }
  Alone time_alone(const parity::Case& test, const Timed& how) override {
    return bench::time_alone(*world_of(test), test, how);
  }
  void over(const std::string& transport) override { transport_ = transport; }
  void abandon(int code) override { job_->abort(code); }

 private:
  static std::unique_ptr<Job> joined(const Launcher& launcher,
                                     const std::vector<std::string>& transports) {
    try {
      auto job = Job::join(launcher);
      for (const std::string& transport : transports) job->join_gpus(transport);
      return job;
    } catch (const std::exception& error) {
      throw parity::BadCase(error.what());
    }
  }
  std::unique_ptr<Communicator> world_of(const parity::Case& test) {
    if (test.world != job_->size())
      throw parity::BadCase("the case has a world of " + std::to_string(test.world) +
                            ", there are " + std::to_string(job_->size()) +
                            " ranks; start as many ranks as the case has");
    return job_->world(parity::device_type_of(test), kDeadline, transport_);
  }

  std::unique_ptr<Job> job_;
  std::string transport_ = kUsualGpuTransport;
  int64_t sample_;
};

}  // namespace

int devices_of(const parity::Case& test) {
  return test.world_kind == "thread"
             ? std::min(test.world, device_count(parity::device_type_of(test)))
             : test.world;
}

std::unique_ptr<Worlds> threads(int64_t sample) { return std::make_unique<Threads>(sample); }

std::unique_ptr<Worlds> ranks_of(const Launcher& launcher, const std::vector<std::string>& transports,
                                 int64_t sample) {
  return std::make_unique<Ranks>(launcher, transports, sample);
}

}  // namespace ringcheck::bench
