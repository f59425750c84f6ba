// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/timing.h"

#include <algorithm>

namespace ringcheck::cli {
namespace {

double over(const Link& link, double bytes) { return bytes > 0 ? link.latency + bytes / link.rate : 0; }

// A ring goes at the pace of its slowest hop. Who sends to everybody sends to ranks on other hosts and on its own at the same
// time; who waits longest is on the host with the fewest ranks, that is the last one.
double travels(double bytes, Peers peers, int64_t ranks, const Hosts& hosts) {
  if (ranks <= hosts.ranks) return over(hosts.inside, bytes);
  if (peers == Peers::kNeighbour) return std::max(over(hosts.inside, bytes), over(hosts.between, bytes));
  const int64_t over_hosts = ranks % hosts.ranks, own = over_hosts == 0 ? hosts.ranks : over_hosts;
  const double elsewhere = static_cast<double>(ranks - own) / static_cast<double>(ranks - 1);
  return std::max(over(hosts.inside, bytes * (1 - elsewhere)), over(hosts.between, bytes * elsewhere));
}

}  // namespace

Seconds seconds_of(const Stages& pass, Peers peers, int64_t ranks, const PassFigures& kernel,
                   const Hosts& hosts) {
  Seconds seconds;
  for (const Stage& stage : pass) {
    const double call = stage.flops > 0 ? stage.flops / kernel.rate + kernel.call : 0;
    const double works = call + stage.beside / kernel.beside;
    const double waits = std::max(0.0, travels(stage.sent, peers, ranks, hosts) - works);
    seconds.all += stage.times * (works + waits);
    seconds.exposed += stage.times * waits;
  }
  return seconds;
}

LayerSeconds seconds_of(const Work& work, int64_t ranks, const KernelFigures& kernel, const Hosts& hosts) {
  return {seconds_of(work.forward, work.peers, ranks, kernel.forward, hosts),
          seconds_of(work.backward, work.peers, ranks, kernel.backward, hosts)};
}

}  // namespace ringcheck::cli
