// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "parity/judge/tally.h"
#include "parity/subject/subject.h"
#include "reference/tiles/group.h"

namespace ringcheck::parity {

// A folder that has what was judged of the (batch, kv head) pairs of a case, so that judging that takes hours goes on where it was cut off.
// A file stands for one run of pairs of one case under one promise, judged by this very program in these tiles, of exactly these bits;
// anything else has another name. One that is damaged counts for nothing.
class Kept {
 public:
  // Without a folder nothing is kept.
  Kept(const std::string& folder, const Case& test, const Promise& promise);

  // What `judge` says of a run of pairs, or said before of the same `bits`: all that it looks at. From any thread.
  std::vector<Tally> operator()(reference::Range pairs, const reference::Tiling& tiling,
                                const std::function<std::vector<at::Tensor>()>& bits,
                                const std::function<std::vector<Tally>()>& judge);

  // How many pairs had been judged before, and why something could not be written: in words, where there is something to say.
  std::vector<std::string> said() const;

 private:
  std::string folder_, about_;
  int64_t all_;
  mutable std::mutex telling_;
  int64_t known_ = 0;   // pairs
  double seconds_ = 0;  // that judging them had taken
  std::string unwritten_;  // why, the first time
};

}  // namespace ringcheck::parity
