// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parity/judge/tally.h"
#include "parity/subject/subject.h"
#include "reference/tiles/group.h"

namespace ringcheck::parity {

// What was judged of the (batch, kv head) pairs of a case, kept in a folder: judging that takes hours goes on where it was cut off. A file
// stands for one run of pairs of one case under one promise, judged by this very program, of exactly these bits; anything else has another
// name. One that is damaged counts for nothing.
class Kept {
 public:
  // Without a folder nothing is kept.
  Kept(const std::string& folder, const Case& test, const Promise& promise);

  // What `judge` says of a run of pairs, or said before of the same bits: all that it looks at. From any thread. Throws BadCase where it cannot
  // be written.
  std::vector<Tally> operator()(reference::Range pairs, const std::function<std::vector<at::Tensor>()>& bits,
                                const std::function<std::vector<Tally>()>& judge);

  // How many pairs were found, in words; nothing where none was.
  std::optional<std::string> found() const;

 private:
  std::string folder_, about_;
  int64_t all_;
  std::atomic<int64_t> found_ = 0;  // pairs
  std::atomic<double> seconds_ = 0;  // that judging them took
};

}  // namespace ringcheck::parity
