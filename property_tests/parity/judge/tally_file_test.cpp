// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What was judged is read as it was written.
#include <gtest/gtest.h>

#include <tuple>

#include "cli/process/folder.h"
#include "parity/judge/kept/tally_file.h"

namespace ringcheck {
namespace {

// Each member has a number of its own.
TEST(TallyFile, IsReadAsItWasWritten) {
  double next = 0.5;
  const auto worst = [&] {
    parity::Worst w;
    for (double* x : {&w.ratio, &w.actual, &w.value, &w.bound, &w.sigma}) *x = ++next;
    for (int64_t* x : {&w.pair, &w.shared, &w.position, &w.channel}) *x = static_cast<int64_t>(++next);
    return w;
  };
  parity::KeptTallies kept{{}, 12.25};
  for (int i = 0; i < 5; ++i) {
    parity::Tally t;
    for (double* x : {&t.max_abs, &t.hard_ratio, &t.max_z, &t.z_squares, &t.error_squares, &t.value_squares}) *x = ++next;
    t.worst_position = static_cast<int64_t>(++next);
    for (auto* x : {&t.compared, &t.elements, &t.signed_z, &t.energy, &t.vacuous}) *x = {++next, ++next, ++next};
    t.hard = worst();
    t.stat = worst();
    kept.tallies.push_back(t);
  }
  const cli::TemporaryFolder folder;
  const std::string file = folder.file("tallies.safetensors");
  parity::write_tallies(file, kept);
  const auto read = parity::read_tallies(file);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->seconds, kept.seconds);
  ASSERT_EQ(read->tallies.size(), 5);
  for (size_t i = 0; i < 5; ++i) {
    const parity::Tally &x = read->tallies[i], &y = kept.tallies[i];
    EXPECT_EQ(std::tie(x.max_abs, x.hard_ratio, x.max_z, x.worst_position, x.z_squares, x.error_squares, x.value_squares),
              std::tie(y.max_abs, y.hard_ratio, y.max_z, y.worst_position, y.z_squares, y.error_squares, y.value_squares));
    EXPECT_EQ(std::tie(x.compared, x.elements, x.signed_z, x.energy, x.vacuous),
              std::tie(y.compared, y.elements, y.signed_z, y.energy, y.vacuous));
    for (const auto part : {&parity::Tally::hard, &parity::Tally::stat}) {
      const parity::Worst &v = x.*part, &w = y.*part;
      EXPECT_EQ(std::tie(v.ratio, v.pair, v.shared, v.position, v.channel, v.actual, v.value, v.bound, v.sigma),
                std::tie(w.ratio, w.pair, w.shared, w.position, w.channel, w.actual, w.value, w.bound, w.sigma));
    }
  }
}

}  // namespace
}  // namespace ringcheck
