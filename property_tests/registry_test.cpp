// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "cp/attention/attention_kernel.h"
#include "cp/layout/balancer.h"
#include "cp/attention/rotation.h"
#include "cp/attention/strategy.h"
#include "parity/case/data_family.h"
#include "parity/judge/oracle.h"
#include "parity/faults/peer_test.h"

namespace ringcheck {
namespace {

template <class Family>
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, entry] : Family::all())
    all.push_back(name);
  return all;
}

// As many members as files: none was dropped by the linker, none forgot to register.
TEST(Registry, EveryFileRegistered) {
  EXPECT_EQ(Balancers::all().size(), size_t{RINGCHECK_BALANCER_FILES});
  EXPECT_EQ(Rotations::all().size(), size_t{RINGCHECK_ROTATION_FILES});
  EXPECT_EQ(Strategies::all().size(), size_t{RINGCHECK_STRATEGY_FILES});
  EXPECT_EQ(AttentionKernels::all().size(), size_t{RINGCHECK_KERNEL_FILES});
  EXPECT_EQ(parity::Oracles::all().size(), size_t{RINGCHECK_ORACLE_FILES});
  EXPECT_EQ(parity::PeerTests::all().size(), size_t{RINGCHECK_PEER_TEST_FILES});
}

// At least these, under these names, which results and scripts rely on.
TEST(Registry, NamesAreFixed) {
  using testing::IsSupersetOf;
  EXPECT_THAT(names<Balancers>(), IsSupersetOf({"contiguous", "headtail", "striped"}));
  EXPECT_THAT(names<Rotations>(), IsSupersetOf({"allgather", "alltoall", "p2p"}));
  EXPECT_THAT(names<Strategies>(), IsSupersetOf({"gathered", "ring", "ulysses"}));
  EXPECT_THAT(names<AttentionKernels>(), IsSupersetOf({"flash", "plain"}));
  EXPECT_THAT(names<parity::Oracles>(),
              IsSupersetOf({"parity", "counters", "rope", "census", "ownership", "routing",
                            "routing-gradients", "snap", "constant-v", "equal-keys"}));
  EXPECT_THAT(names<parity::DataFamilies>(),
              IsSupersetOf({"spread3", "normal", "uniform", "outliers", "peaked", "flat", "offset",
                            "ones", "wide", "census", "routing", "snap", "equal-keys"}));
}

// docs/oracles.md says of every oracle what it proves, and of every data family what it is.
TEST(Registry, OraclesAndDataFamiliesAreDocumented) {
  std::ifstream file(RINGCHECK_SOURCE_DIR "/docs/oracles.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [name, oracle] : parity::Oracles::all()) {
    const char* rigour = oracle.rigour == parity::Oracle::Rigour::kExact ? "exact" : "bounded";
    EXPECT_FALSE(oracle.cost.empty()) << name;
    EXPECT_THAT(text, testing::HasSubstr("| `" + name + "` | "));
    EXPECT_THAT(text, testing::HasSubstr("| " + oracle.proves + " | " + rigour + " | " + oracle.cost + " |"));
  }
  for (const auto& [name, family] : parity::DataFamilies::all())
    EXPECT_THAT(text, testing::HasSubstr("| `" + name + "` | " + family.says + " |"));
}

// Only the all-gather has something to keep, and only striping has a block size.
TEST(Registry, OptionsAreDeclared) {
  for (const auto& [name, rotation] : Rotations::all())
    EXPECT_EQ(rotation.can_keep, name == "allgather") << name;
  for (const auto& [name, balancer] : Balancers::all())
    EXPECT_EQ(balancer.takes_block, name == "striped") << name;
}

// An unknown name is an error that says which names there are.
TEST(Registry, AnUnknownNameSaysWhatIsKnown) {
  try {
    Rotations::at("spiral");
    FAIL() << "accepted";
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("unknown name 'spiral'; known: "));
    for (const std::string& name : names<Rotations>())
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
  }
}

struct Nothing {};

// A name is taken once.
TEST(Registry, ANameIsRegisteredOnce) {
  const Registry<Nothing>::Add first("name", {});
  EXPECT_THROW(Registry<Nothing>::Add("name", {}), std::logic_error);
  EXPECT_EQ(Registry<Nothing>::all().size(), 1U);
}

}  // namespace
}  // namespace ringcheck
