// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <array>
#include <tuple>
#include <vector>

#include "cp/ledger/overlap.h"
#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kCase = "ring:p2p/contiguous/full/P2/b1/hq2/hkv2/s8/d4/dv4/float64";
constexpr int64_t kSlots = 4, kHead = 1;
// Bytes: of the q of a rank; of messages from rank 0, those from rank 1 have twice as many; held from a pass on; kept by a call.
constexpr int64_t kQ = 2 * kSlots * 4 * 8, kForgotten = 24, kCarried = 40, kHeld = 4096, kKept = 56;
// Bytes that each stage of a pass takes for a moment.
constexpr int64_t kMoments[2][kStages] = {{1000, 3000, 2000, 4000}, {8000, 5000, 7000, 6000}};
constexpr int64_t kBlocks = 2, kPairs = 6, kFlops = 30, kComputed = 9;  // of a pass; of each block

void take_for_a_moment(int64_t bytes) { at::empty({bytes}, at::kByte); }

// A message to the other rank, and one from it.
struct Letters {
  at::Tensor out, in;

  Letters(const Communicator& comm, int64_t bytes) : out(of(comm.rank(), bytes)), in(of(comm.right(), bytes)) {}
  static at::Tensor of(int sender, int64_t bytes) { return at::ones({(sender + 1) * bytes / 8}, at::kDouble); }
  Pending post(Communicator& comm, const char* name) const { return comm.exchange(out, comm.right(), in, comm.left(), {name}); }
};

// Does what no strategy may: sends outside the passes, forgets a message, takes memory for a moment in every stage, and keeps
// some of every call. Returns as O what a buffer holds before its message is waited for, and as dQ what it holds then.
class Wasteful final : public Subject {
 public:
  std::optional<std::string> refuses(const Case&) const override { return std::nullopt; }
  Promise promise(const Case& test) const override {
    Promise promise = plain::subject().promise(test);
    promise.shows = {"o", "dq"};
    return promise;
  }
  RankOutput run(Communicator& comm, const Case&, const RankInput& input) const override {
    const Letters forgotten(comm, kForgotten), carried(comm, kCarried);
    RankOutput output;
    output.dq = at::zeros_like(input.local.q);
    Pending outside = comm.exchange(input.local.q, comm.right(), output.dq, comm.left(), {"outside"});
    output.o = output.dq.clone();
    outside.wait();
    const at::Tensor first = pass(comm, Phase::kForward, MemoryTag::kKv, forgotten);
    const at::Tensor second = pass(comm, Phase::kBackward, MemoryTag::kTraveller, carried);
    kept_.at(comm.rank()).push_back(at::empty({kKept}, at::kByte));
    comm.finish();
    return output;
  }

 private:
  // What it holds when it is over. A message is under way while the first of two blocks is attended.
  static at::Tensor pass(Communicator& comm, Phase phase, MemoryTag tag, const Letters& letters) {
    Ledger& ledger = comm.ledger();
    const Ledger::Scope scope(ledger, phase);
    at::Tensor held = comm.buffer(kHeld / 8, at::kDouble, tag);
    const auto& moments = kMoments[static_cast<int>(phase)];
    Pending message = letters.post(comm, phase == Phase::kForward ? "forgotten" : "carried");
    take_for_a_moment(moments[0]);
    for (int64_t block = 0; block < kBlocks; ++block) {
      ledger.take_stock();
      take_for_a_moment(moments[1]);
      ledger.attended({phase, {}, {}, {kHead, 1}, kPairs, kFlops, ledger.now(), ledger.now(), kComputed});
      take_for_a_moment(moments[2]);
      if (phase == Phase::kBackward) message.wait();
    }
    ledger.merged();
    ledger.finishing();
    take_for_a_moment(moments[3]);
    return held;
  }

  mutable std::array<std::vector<at::Tensor>, 2> kept_;  // of each rank
};

// What is counted of one rank, beside what it did.
class Examination {
 public:
  Examination(int rank, const RankRecord& record, SelfTest& result)
      : rank_(rank), record_(record), result_(result) {}

  void run() const {
    const Counters of_all{.messages = 1, .pairs = kBlocks * kPairs, .flops = kBlocks * kFlops, .steps = kBlocks, .merges = 1,
                          .computed = kBlocks * kComputed};
    Counters forward = with_bytes(of_all, kForgotten), backward = with_bytes(of_all, kCarried);
    forward.overlapped = std::nullopt;
    forward.unwaited = 2;  // one sent, one received
    backward.overlapped = 1;
    examine_counters("forward", record_.forward, forward);
    examine_counters("backward", record_.backward, backward);
    examine_stock("forward", record_.forward_stock, kHeld, kMoments[0]);
    examine_stock("backward", record_.backward_stock, 2 * kHeld, kMoments[1]);
    examine_call();
  }

 private:
  Counters with_bytes(Counters counters, int64_t bytes) const {
    counters.bytes_sent = bytes * (rank_ + 1);
    counters.bytes_received = bytes * (2 - rank_);
    return counters;
  }
  void is(const std::string& what, int64_t found, int64_t known) const {
    result_.demand(found == known,
                   c10::str("the meters of rank ", rank_, " count ", found, " ", what, ", not ", known));
  }
  void examine_counters(const std::string& pass, const Counters& found, const Counters& known) const {
    for (const auto& [name, counter] :
         {std::pair("bytes sent", &Counters::bytes_sent), {"bytes received", &Counters::bytes_received},
          {"messages", &Counters::messages}, {"pairs", &Counters::pairs}, {"FLOPs", &Counters::flops},
          {"steps", &Counters::steps}, {"merges", &Counters::merges}, {"pairs computed", &Counters::computed},
          {"messages that nobody waits for", &Counters::unwaited}})
      is(c10::str(name, " ", pass), found.*counter, known.*counter);
    const auto overlapped = [](const Counters& counters) { return counters.overlapped.value_or(-1); };
    is("steps with a message under way (-1: unknown) " + pass, overlapped(found), overlapped(known));
  }
  void examine_stock(const std::string& pass, const Stock& found, int64_t held, const int64_t (&moments)[kStages]) const {
    is("bytes held while a block is attended " + pass, found.attending, held);
    is("bytes held after the pass " + pass, found.after, held);
    for (size_t stage = 0; stage < kStages; ++stage)
      is(c10::str("bytes at most in stage ", stage, " ", pass), found.peaks[stage], held + moments[stage]);
  }
  void examine_call() const {
    constexpr int64_t kMessages = kForgotten + kCarried;
    const int64_t sent = kQ + kMessages * (rank_ + 1), received = kQ + kMessages * (2 - rank_);
    is("bytes sent, within the passes and outside", record_.bytes_sent, sent);
    is("bytes received, within the passes and outside", record_.bytes_received, received);
    is("messages, within the passes and outside", record_.messages, 3);
    is("bytes sent to the other rank", record_.sent_to.at(1 - rank_), sent);
    is("bytes received from the other rank", record_.received_from.at(1 - rank_), received);
    is("bytes at most", record_.peak_bytes, 3 * kMessages + 2 * kQ + 2 * kHeld + kMoments[1][0]);
    is("bytes of K and V", record_.kv_bytes, kHeld);
    is("bytes of dK and dV that travel", record_.traveller_bytes, kHeld);
    for (const auto& heads : {record_.forward_heads, record_.backward_heads})
      is("pairs of a head", heads.at(kHead), kBlocks * kPairs);
    result_.demand(record_.unwaited == std::vector<std::string>{"forward 'forgotten'"},
                   c10::str("what rank ", rank_, " never waited for has another name"));
  }

  int rank_;
  const RankRecord& record_;
  SelfTest& result_;
};

// Messages from 1 to 2 and from 9 to 12, beside attention from 0 to 10, some of it twice.
void examine_overlap(SelfTest& result) {
  const Seconds found = seconds_of({{0, 10}, {2, 3}, {4, 5}}, {{9, 12}, {1, 2}});
  for (const auto& [name, seconds, known] : {std::tuple("of attention", found.attention, 10.), {"of communication", found.communication, 4.},
                                             {"of exposed communication", found.exposed, 2.}, {"of overlapped communication", found.overlapped, 2.}})
    result.demand(seconds == known, c10::str(seconds, " seconds ", name, " are counted, not ", known));
}

}  // namespace

void examine_meters(SelfTest& result) {
  examine_overlap(result);
  const Case test = parse_case(kCase);
  const Outcome outcome = solve_on_threads({test}, Wasteful());
  for (size_t rank = 0; rank < outcome.ranks.size(); ++rank)
    Examination(static_cast<int>(rank), outcome.ranks[rank], result).run();
  result.demand(outcome.tensors.o.isnan().all().item<bool>(),
                "a buffer holds numbers before its message is waited for, not NaN");
  result.demand(same_values(outcome.tensors.dq, problem_of(test).q.roll(kSlots, 2)),
                "a message brings something else than was sent");
}

void examine_growth(SelfTest& result) {
  Run run{parse_case(kCase)};
  run.calls = 4;
  const Outcome outcome = solve_on_threads(run, Wasteful());
  for (size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    const int64_t grown = outcome.ranks[rank].grown_bytes, known = (run.calls - 2) * kKept;
    result.demand(grown == known,
                  c10::str("rank ", rank, " keeps ", known, " bytes after the second call, and ", grown, " are counted"));
  }
}

}  // namespace ringcheck::parity
