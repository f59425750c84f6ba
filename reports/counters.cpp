// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/counters.h"

namespace ringcheck::reports {
namespace {

using Counters = std::vector<std::pair<std::string, int64_t>>;

void append(Counters& counters, const std::string& pass, const PassCounters& of) {
  const Counters own{{"bytes_sent", of.bytes_sent}, {"bytes_received", of.bytes_received},
                     {"messages", of.messages},     {"pairs", of.pairs},
                     {"flops", of.flops},           {"steps", of.steps},
                     {"merges", of.merges},         {"computed", of.computed}};
  for (const auto& [name, value] : own) counters.emplace_back(pass + "." + name, value);
  if (of.overlapped) counters.emplace_back(pass + ".overlapped", *of.overlapped);
}

void append(Counters& counters, const std::string& name, const std::vector<int64_t>& by_rank) {
  for (size_t rank = 0; rank < by_rank.size(); ++rank)
    counters.emplace_back(name + "." + std::to_string(rank), by_rank[rank]);
}

}  // namespace

Counters counters_of(const RankResult& rank) {
  Counters counters{{"peak_bytes", rank.peak_bytes},
                    {"kv_bytes", rank.kv_bytes},
                    {"traveller_bytes", rank.traveller_bytes},
                    {"wrong_pads", rank.wrong_pads},
                    {"call.bytes_sent", rank.call.bytes_sent},
                    {"call.bytes_received", rank.call.bytes_received},
                    {"call.messages", rank.call.messages}};
  append(counters, "forward", rank.forward);
  append(counters, "backward", rank.backward);
  append(counters, "sent_to", rank.sent_to);
  append(counters, "received_from", rank.received_from);
  return counters;
}

}  // namespace ringcheck::reports
