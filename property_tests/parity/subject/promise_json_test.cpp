// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A promise as a recording keeps it: read again it is the same, and what older recordings lack is what it was then.
#include "parity/subject/files/promise_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringcheck {
namespace {

// All unlike the defaults.
parity::Promise promise() {
  parity::Promise promise;
  promise.contract.u_a = 0x1p-20;
  promise.contract.u_m = 0x1p-8;
  promise.contract.u_d = 0x1p-19;
  promise.contract.scales_ds = true;
  promise.contract.chops_after = 8;
  promise.backward_contract = promise.contract;
  promise.backward_contract->eta_o = 0x1p-25;
  promise.partials = 3;
  promise.gradient_partials = {5, 7};
  promise.u_angle = 0x1p-24;
  promise.deterministic = promise.by_strategy = promise.separate_passes = true;
  promise.autograd = promise.any_layout = promise.lengths = true;
  promise.shows = {"o", "dq", "q", "k"};
  promise.counts = {parity::Promise::Counts::kWork};
  promise.charts["dk"] = {1, 2, 3, 4};
  return promise;
}

TEST(PromiseJson, IsReadAsItWasWritten) {
  const nlohmann::json written = to_json(promise());
  const parity::Promise read = parity::promise_from_json(written);
  EXPECT_EQ(to_json(read), written);
  EXPECT_EQ(read.contract, promise().contract);
  EXPECT_EQ(read.backward_contract, promise().backward_contract);
  EXPECT_EQ(read.merged().of_o, 3);
  EXPECT_EQ(read.merged().of_dq, 5);
  EXPECT_EQ(read.merged().of_dkv, 7);
  EXPECT_EQ(read.shows, promise().shows);
  EXPECT_EQ(read.counts, promise().counts);
  EXPECT_TRUE(read.lengths);
}

TEST(PromiseJson, OfAnOlderRecordingHasAsManyPartialGradientsAsOutputs) {
  nlohmann::json older = to_json(promise());
  older.erase("gradient_partials");
  const parity::Promise read = parity::promise_from_json(older);
  EXPECT_EQ(read.merged().of_dq, 3);
  EXPECT_EQ(read.merged().of_dkv, 3);
}

}  // namespace
}  // namespace ringcheck
