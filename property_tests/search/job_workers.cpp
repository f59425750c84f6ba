// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cp/error.h"
#include "property_tests/search/workers.h"

namespace ringcheck::search {
namespace {

using parity::Case;
using parity::Status;
using parity::Verdict;

constexpr std::chrono::hours kForAnOrder{12};
constexpr int64_t kTextBytes = 4096;

// How one rank came out of a case, as all ranks learn it.
struct Ending {
  enum Kind : int64_t { kDone, kTimedOut, kThrew };
  Kind kind = kDone;
  std::string what;
};

at::Tensor bytes_of(const std::string& text) {
  at::Tensor bytes = at::zeros({kTextBytes}, at::kByte);
  const size_t size = std::min(text.size(), static_cast<size_t>(kTextBytes - 1));
  std::memcpy(bytes.data_ptr(), text.data(), size);
  return bytes;
}

std::string text_of(const at::Tensor& bytes) {
  return static_cast<const char*>(bytes.const_data_ptr());
}

// What one rank of the job does in every case. All ranks call the same methods. Each kind of
// message has a communicator of its own, so that what a hung case left under way meets nothing.
class Crew {
 public:
  Crew(Job& job, Conduct conduct)
      : conduct_(std::move(conduct)),
        orders_(job.world(at::kCPU, kForAnOrder)->split(0, job.rank())),
        endings_(job.world(at::kCPU, conduct_.give_up)->split(1, job.rank())),
        groups_(job.world(at::kCPU, conduct_.deadline)->split(2, job.rank())) {
    at::set_num_threads(1);
  }

  int rank() const { return orders_->rank(); }
  int size() const { return orders_->size(); }
  bool left_behind() const { return !abandoned_.empty(); }

  // What rank 0 says; "" ends.
  std::string order(const std::string& text) {
    std::vector<Message> sends, receives;
    at::Tensor bytes = bytes_of(text);
    if (rank() == 0)
      for (int peer = 1; peer < size(); ++peer)
        sends.push_back({bytes, peer});
    else
      receives.push_back({bytes, 0});
    orders_->transfer(sends, receives, {"order"}).wait();
    orders_->finish();
    return text_of(bytes);
  }

  // The verdict, on rank 0. No rank throws before all know how each of them came out.
  std::optional<Verdict> perform(const Case& test) try {
    std::unique_ptr<Communicator> group = groups_->split(rank() < test.world ? 0 : 1, rank());
    std::optional<Verdict> verdict;
    const Ending own = rank() < test.world ? attempt(test, *group, verdict) : Ending{};
    const std::vector<Ending> all = agree(own);
    if (std::ranges::all_of(all, [](const Ending& e) { return e.kind == Ending::kDone; }))
      return verdict;
    abandoned_.push_back(std::move(group));  // it owns the buffers of what is still under way
    return rank() == 0 ? std::optional(failed(test, all)) : std::nullopt;
  } catch (const Timeout& error) {
    throw WorldLost("a rank did not come back within " + std::to_string(conduct_.give_up.count()) +
                    " ms: " + error.what());
  }

 private:
  Ending attempt(const Case& test, Communicator& group, std::optional<Verdict>& verdict) const {
    parity::RunOptions options;
    options.subject = conduct_.subject;
    options.judging = conduct_.judging;
    options.deadline = conduct_.deadline;
    try {
      parity::ProcessRanks ranks(group);
      verdict = parity::verify(test, ranks, options);
      return {};
    } catch (const Timeout& error) {
      return {Ending::kTimedOut, describe(group.ledger().current()) + ": " + error.what()};
    } catch (const std::exception& error) {
      return {Ending::kThrew, describe(group.ledger().current()) + ": " + error.what()};
    }
  }

  std::vector<Ending> agree(const Ending& own) {
    at::Tensor bytes = bytes_of(std::to_string(static_cast<int>(own.kind)) + own.what);
    std::vector<at::Tensor> gathered;
    for (int peer = 0; peer < size(); ++peer)
      gathered.push_back(at::empty_like(bytes));
    endings_->all_gather(bytes, gathered, {"endings"}).wait();
    endings_->finish();
    std::vector<Ending> all;
    for (const at::Tensor& part : gathered) {
      const std::string text = text_of(part);
      all.push_back({static_cast<Ending::Kind>(text.at(0) - '0'), text.substr(1)});
    }
    return all;
  }

  // A rank that throws makes its peers wait in vain, so it is to blame before them.
  static Verdict failed(const Case& test, const std::vector<Ending>& all) {
    const auto worst = std::ranges::max_element(all, {}, &Ending::kind);
    Verdict verdict;
    verdict.test = test;
    verdict.status = worst->kind == Ending::kThrew ? Status::kCrash : Status::kHang;
    verdict.reason = "rank " + std::to_string(worst - all.begin()) + " in " + worst->what;
    return verdict;
  }

  Conduct conduct_;
  std::unique_ptr<Communicator> orders_, endings_, groups_;
  std::vector<std::unique_ptr<Communicator>> abandoned_;
};

class JobWorkers final : public Workers {
 public:
  JobWorkers(Job& job, const Conduct& conduct) : crew_(job, conduct) {}
  ~JobWorkers() override {
    if (lost_)
      return;
    try {
      crew_.order("");
    } catch (const std::exception&) {
      // The others are gone, or time out by themselves.
    }
  }

  int most_ranks() const override { return crew_.size(); }
  std::string world_kind() const override { return "mpi"; }
  bool left_behind() const override { return lost_ || crew_.left_behind(); }

  Verdict run(const Case& test) override {
    try {
      crew_.order(parity::to_text(test));
      return crew_.perform(test).value();
    } catch (const WorldLost&) {
      lost_ = true;
      throw;
    }
  }

 private:
  Crew crew_;
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<Workers> job_workers(Job& job, const Conduct& conduct) {
  return std::make_unique<JobWorkers>(job, conduct);
}

void serve(Job& job, const Conduct& conduct) {
  Crew crew(job, conduct);
  for (std::string text = crew.order(""); !text.empty(); text = crew.order(""))
    crew.perform(parity::parse_case(text));
}

}  // namespace ringcheck::search
