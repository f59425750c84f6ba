// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// What conditions ask of a case, worked out once.
struct Facts {
  explicit Facts(const Case& test);

  const Case& test;
  // By part: its text form, a mask without its numbers, a RoPE without its base.
  std::map<std::string, std::string> traits;
  Documents packed;             // none where the sequence is one document
  int64_t group = 1;            // query heads of a key-value head
  int64_t granule = 1;          // of the balancer
  int64_t shard = 0;            // slots of a rank
  int64_t piece = 0;            // slots of a rank that follow each other: its chunk, its stripe
  std::vector<int64_t> tokens;  // of each rank
  bool piece_of_pads = false;   // a rank that has tokens holds a piece without any
  int64_t farthest = 0;         // the largest position that a token has in its document
  // Something can be seen in every tensor: a query sees 1.5 keys or more on average, and neither
  // the data nor the scale make a gradient vanish.
  bool telling = false;
};

}  // namespace ringcheck::parity
