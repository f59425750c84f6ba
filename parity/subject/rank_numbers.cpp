// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/rank_numbers.h"

#include <bit>

namespace ringcheck::parity {

std::vector<int64_t> numbers_of(const RankRecord& record) {
  std::vector<int64_t> values;
  for (const Counters& c : {record.forward, record.backward})
    values.insert(values.end(), {c.bytes_sent, c.bytes_received, c.messages, c.pairs, c.flops,
                                 c.steps, c.merges, c.computed, c.overlapped});
  for (const Stock& s : {record.forward_stock, record.backward_stock}) {
    values.insert(values.end(), {s.attending, s.after});
    values.insert(values.end(), s.peaks.begin(), s.peaks.end());
  }
  for (const Seconds& s : {record.forward_seconds, record.backward_seconds})
    for (const double part : {s.attention, s.communication, s.exposed, s.overlapped})
      values.push_back(std::bit_cast<int64_t>(part));
  values.insert(values.end(), {record.bytes_sent, record.bytes_received, record.messages,
                               record.peak_bytes, record.kv_bytes, record.traveller_bytes,
                               record.wrong_pads, record.grown_bytes});
  for (const auto& edges : {record.sent_to, record.received_from})
    values.insert(values.end(), edges.begin(), edges.end());
  return values;
}

RankRecord record_from(const int64_t* value, int64_t peers) {
  RankRecord record;
  for (Counters* c : {&record.forward, &record.backward})
    for (int64_t* field : {&c->bytes_sent, &c->bytes_received, &c->messages, &c->pairs, &c->flops,
                           &c->steps, &c->merges, &c->computed, &c->overlapped})
      *field = *value++;
  for (Stock* s : {&record.forward_stock, &record.backward_stock}) {
    for (int64_t* field : {&s->attending, &s->after}) *field = *value++;
    for (int64_t& peak : s->peaks) peak = *value++;
  }
  for (Seconds* s : {&record.forward_seconds, &record.backward_seconds})
    for (double* part : {&s->attention, &s->communication, &s->exposed, &s->overlapped})
      *part = std::bit_cast<double>(*value++);
  for (int64_t* field : {&record.bytes_sent, &record.bytes_received, &record.messages,
                         &record.peak_bytes, &record.kv_bytes, &record.traveller_bytes,
                         &record.wrong_pads, &record.grown_bytes})
    *field = *value++;
  for (auto* edges : {&record.sent_to, &record.received_from}) {
    edges->assign(value, value + peers);
    value += peers;
  }
  return record;
}

std::optional<int64_t> peers_in(int64_t numbers) {
  const auto edges = numbers - static_cast<int64_t>(numbers_of({}).size());
  if (edges < 0 || edges % 2 != 0) return std::nullopt;
  return edges / 2;
}

}  // namespace ringcheck::parity
