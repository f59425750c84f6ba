// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

#include "property_tests/asan_options.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// What is freed may be used again at once.
RINGCHECK_ASAN_OPTIONS("quarantine_size_mb=0:thread_local_quarantine_size_kb=0")

namespace ringcheck {
namespace {

// What is held now and was held at most, in total and by tag.
struct Figures {
  int64_t now, peak, kv_now, kv_peak, travellers_now, travellers_peak;
  bool operator==(const Figures&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Figures& f) {
  return out << f.now << "/" << f.peak << " kv " << f.kv_now << "/" << f.kv_peak << " travellers "
             << f.travellers_now << "/" << f.travellers_peak;
}

Figures figures(const MemoryMeter& meter) {
  const Held &kv = meter.tagged(MemoryTag::kKv), &travellers = meter.tagged(MemoryTag::kTraveller);
  return {meter.total().now, meter.total().peak, kv.now, kv.peak, travellers.now, travellers.peak};
}

KvShape block(int64_t bytes) { return {1, 1, bytes / 8, 1, 1, at::kFloat, at::kCPU}; }

// Two threads with a meter each count every byte of their own, and none of the other's.
TEST(Memory, MetersAreExactOnTwoThreads) {
  std::vector<std::vector<Figures>> seen(2);
  const auto work = [&](int thread) {
    const auto meter = std::make_shared<MemoryMeter>();
    const Metered metered(meter);
    const int64_t unit = 800 * (thread + 1);
    const auto look = [&] { seen[thread].push_back(figures(*meter)); };
    at::Tensor plain = at::empty({unit}, at::kByte);
    look();
    at::Tensor kv = buffer(block(2 * unit), MemoryTag::kKv);
    at::Tensor traveller = buffer(block(unit), MemoryTag::kTraveller);
    look();
    plain.reset();
    kv.reset();
    look();
    at::Tensor again = buffer(block(unit), MemoryTag::kKv);
    traveller.reset();
    look();
  };
  { const std::jthread first(work, 0), second(work, 1); }
  for (int thread = 0; thread < 2; ++thread) {
    const int64_t u = 800 * (thread + 1);
    ASSERT_EQ(seen[thread].size(), 4U);
    EXPECT_EQ(seen[thread][0], (Figures{u, u, 0, 0, 0, 0}));
    EXPECT_EQ(seen[thread][1], (Figures{4 * u, 4 * u, 2 * u, 2 * u, u, u}));
    EXPECT_EQ(seen[thread][2], (Figures{u, 4 * u, 0, 2 * u, u, u}));
    EXPECT_EQ(seen[thread][3], (Figures{u, 4 * u, u, 2 * u, 0, u}));
  }
}

// An address that is used again is another buffer, and has no tag of the one before. Pages this large
// come from the system, which gives the same ones again.
TEST(Memory, ATagGoesWithItsBuffer) {
  const auto meter = std::make_shared<MemoryMeter>();
  const Metered metered(meter);
  constexpr int64_t kBytes = 64 << 20;
  at::Tensor memory = buffer(block(kBytes), MemoryTag::kKv);
  const void* place = memory.const_data_ptr();
  memory.reset();
  memory = buffer(block(kBytes), MemoryTag::kOther);
  ASSERT_EQ(memory.const_data_ptr(), place);
  EXPECT_EQ(figures(*meter), (Figures{kBytes, kBytes, 0, kBytes, 0, 0}));
  memory.reset();
  EXPECT_EQ(figures(*meter), (Figures{0, kBytes, 0, kBytes, 0, 0}));
}

// Nothing is counted where no meter is attached, or after it was detached.
TEST(Memory, MetersCountOnlyWhileAttached) {
  const auto meter = std::make_shared<MemoryMeter>();
  const at::Tensor before = at::empty({100});
  { const Metered metered(meter); }
  const at::Tensor after = at::empty({100});
  EXPECT_EQ(figures(*meter), (Figures{0, 0, 0, 0, 0, 0}));
}

// A buffer has the elements, dtype and alignment that it was asked for.
RC_GTEST_PROP(Memory, BuffersAreAligned, ()) {
  KvShape shape{*gen::between(1, 3).as("batch"),
                *gen::between(1, 3).as("heads"),
                *gen::between(1, 9).as("slots"),
                *gen::between(1, 9).as("dim"),
                *gen::between(1, 9).as("dim_v"),
                *gen::dtype().as("dtype"),
                at::kCPU};
  const at::Tensor flat = buffer(shape, MemoryTag::kKv);
  RC_ASSERT(flat.numel() == shape.batch * shape.heads * shape.slots * (shape.dim + shape.dim_v));
  RC_ASSERT(static_cast<int64_t>(flat.nbytes()) == shape.bytes());
  RC_ASSERT((flat.scalar_type() == shape.dtype));
  RC_ASSERT(reinterpret_cast<uintptr_t>(flat.data_ptr()) % 128 == 0);
}

// pack puts K and V into one buffer: what comes out is what went in, and they do not overlap.
RC_GTEST_PROP(Memory, PackingKeepsKeysAndValues, ()) {
  const int64_t b = *gen::between(1, 3).as("batch"), h = *gen::between(1, 3).as("heads"),
                s = *gen::between(1, 5).as("slots"), d = *gen::between(1, 5).as("dim"),
                dv = *gen::between(1, 5).as("dim_v");
  const at::ScalarType dtype = *gen::dtype().as("dtype");
  const at::Tensor k = normal({b, h, s, d}, 1, dtype), v = normal({b, h, s, dv}, 2, dtype);
  const KvBlock block = pack(k, v, {{3, s, 2}});
  RC_ASSERT(difference(block.k(), k) == "");
  RC_ASSERT(difference(block.v(), v) == "");
  RC_ASSERT((block.positions == Positions{{3, s, 2}}));
  RC_ASSERT(block.heads.begin == 0);
  RC_ASSERT(block.heads.count == h);
  RC_ASSERT(block.packed.is_contiguous());
  RC_ASSERT(static_cast<int64_t>(block.packed.nbytes()) ==
            static_cast<int64_t>(k.nbytes() + v.nbytes()));
}

// After a pass whose results were dropped, a rank holds what it held before, whatever the rotation;
// K, V and travellers are all gone.
RC_GTEST_PROP(Memory, NothingLeaksFromAPass, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto leaks = on_every_rank(test.world, [&](Communicator& comm) {
    const parity::Problem local = local_problem(test, problem, layout[comm.rank()], 0);
    if (!comm.device().is_cpu()) rank_pass(comm, test, local);  // libraries take what they keep
    const Metered metered(comm.ledger().memory());
    const MemoryMeter& meter = *comm.ledger().memory();
    rank_pass(comm, test, local);
    const int64_t once = meter.total().now;
    for (int pass = 0; pass < 3; ++pass)
      rank_pass(comm, test, local);
    comm.finish();
    return std::vector<int64_t>{meter.total().now, meter.total().now - once,
                                meter.tagged(MemoryTag::kKv).now,
                                meter.tagged(MemoryTag::kTraveller).now};
  });
  RC_ASSERT((leaks == std::vector<std::vector<int64_t>>(test.world, {0, 0, 0, 0})));
}

// The peak of K, V and travellers is the same in every pass: nothing piles up.
RC_GTEST_PROP(Memory, PeaksDoNotGrow, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto growth = on_every_rank(test.world, [&](Communicator& comm) {
    const parity::Problem local = local_problem(test, problem, layout[comm.rank()], 0);
    if (!comm.device().is_cpu()) rank_pass(comm, test, local);  // libraries take what they keep
    const Metered metered(comm.ledger().memory());
    const MemoryMeter& meter = *comm.ledger().memory();
    rank_pass(comm, test, local);
    const int64_t kv = meter.tagged(MemoryTag::kKv).peak;
    const int64_t travellers = meter.tagged(MemoryTag::kTraveller).peak;
    rank_pass(comm, test, local);
    return meter.tagged(MemoryTag::kKv).peak - kv + meter.tagged(MemoryTag::kTraveller).peak -
           travellers;
  });
  RC_ASSERT(growth == std::vector<int64_t>(test.world, 0));
}

}  // namespace
}  // namespace ringcheck
