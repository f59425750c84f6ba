// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/scaling/judged.h"
#include "bench/scaling/timing.h"
#include "cp/worlds/launcher.h"
#include "parity/case/case.h"

namespace ringcheck::bench {

// A thread world shares what devices there are.
int devices_of(const parity::Case& test);

// How the ranks of this program exist.
class Worlds {
 public:
  virtual ~Worlds() = default;
  virtual bool speaks() const = 0;  // prints and writes
  virtual Judged verify(const parity::Case& test, Launch launch) = 0;
  virtual Timing time(const parity::Case& test, const Timed& how) = 0;
  // The same problem on each device of the case by itself, all at once.
  virtual Alone time_alone(const parity::Case& test, const Timed& how) = 0;
  virtual void over(const std::string& /*transport*/) {}  // what follows, between GPUs of processes
  virtual void abandon(int) {}  // ranks that wait for this one must not wait for ever
};

// In this process, a thread a rank.
std::unique_ptr<Worlds> threads(int64_t sample);
// This process is a rank of a launcher's job, which joins the transports between GPUs. Throws
// parity::BadCase where it cannot.
std::unique_ptr<Worlds> ranks_of(const Launcher& launcher, const std::vector<std::string>& transports,
                                 int64_t sample);

}  // namespace ringcheck::bench
