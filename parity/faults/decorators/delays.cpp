// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/delays.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "cp/device/delay.h"

namespace ringcheck::parity {
namespace {

constexpr uint64_t kMostRanks = 256;

// Delays whoever calls it, unless on the stream that was current when it was made.
std::function<void()> beside_this_stream(at::Device device, std::function<void()> delay) {
  if (device.is_cpu()) return delay;
  const auto* driver = c10::impl::getDeviceGuardImpl(device.type());
  return [=, computing = driver->getStream(device)] {
    if (driver->getStream(device) != computing) delay();
  };
}

}  // namespace

SharedSubject under_delays(Delays delays, Raced changed) {
  return ours_with([=](Communicator& comm, const Case& test, const RankInput& input) {
    const uint64_t seed = 2 * (kMostRanks * test.seed + static_cast<uint64_t>(comm.rank()));
    const auto computing = random_delay(comm.device(), seed, delays.computing);
    comm.delay_with(beside_this_stream(comm.device(),
                                       random_delay(comm.device(), seed + 1, delays.messages)));
    Parts parts = options_of(test);
    parts.plan.kernel = with_around(parts.plan.kernel, {[=](KernelCall&) { computing(); }});
    if (changed.kernel) parts.plan.kernel = changed.kernel(parts.plan.kernel, comm);
    const auto relay = with_transfer(comm, changed.transfers ? changed.transfers(comm) : post);
    return context_parallel_with(parts, *relay, test, input);
  });
}

}  // namespace ringcheck::parity
