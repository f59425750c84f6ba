// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/rank_numbers.h"

#include <bit>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace ringcheck::parity {
namespace {

// Takes numbers one after the other; there are as many as it is asked for.
class Numbers {
 public:
  explicit Numbers(std::span<const int64_t> numbers) : rest_(numbers) {}
  int64_t next() {
    const int64_t number = rest_.front();
    rest_ = rest_.subspan(1);
    return number;
  }
  void into(std::vector<int64_t>& list) {
    for (int64_t& number : list) number = next();
  }

 private:
  std::span<const int64_t> rest_;
};

// A record begins with how many peers and heads its lists are of.
constexpr int64_t kLists = 2;  // of each

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();  // in place of a number

void demand_fits(std::span<const int64_t> numbers) {
  const auto all = static_cast<int64_t>(numbers.size());
  const auto fixed = static_cast<int64_t>(numbers_of({}).size());
  if (all >= fixed) {
    const int64_t peers = numbers[0], heads = numbers[1], listed = (all - fixed) / kLists;
    if (peers >= 0 && heads >= 0 && peers <= listed && heads == listed - peers && (all - fixed) % kLists == 0)
      return;
  }
  throw std::invalid_argument(std::to_string(all) + " numbers a rank, which is no record");
}

}  // namespace

std::vector<int64_t> numbers_of(const RankRecord& record) {
  std::vector<int64_t> values{static_cast<int64_t>(record.sent_to.size()),
                              static_cast<int64_t>(record.forward_heads.size())};
  for (const Counters& c : {record.forward, record.backward})
    values.insert(values.end(), {c.bytes_sent, c.bytes_received, c.messages, c.pairs, c.flops, c.steps,
                                 c.merges, c.computed, c.unwaited, c.overlapped.value_or(kNone)});
  for (const Stock& s : {record.forward_stock, record.backward_stock}) {
    values.insert(values.end(), {s.attending, s.after});
    values.insert(values.end(), s.peaks.begin(), s.peaks.end());
  }
  for (const Seconds& s : {record.forward_seconds, record.backward_seconds})
    for (const double part : {s.attention, s.communication, s.exposed, s.overlapped})
      values.push_back(std::bit_cast<int64_t>(part));
  values.insert(values.end(), {record.bytes_sent, record.bytes_received, record.messages,
                               record.peak_bytes, record.kv_bytes, record.traveller_bytes,
                               record.grown_bytes});
  values.insert(values.end(), record.wrong_pads.begin(), record.wrong_pads.end());
  for (const auto& list : {record.sent_to, record.received_from, record.forward_heads, record.backward_heads})
    values.insert(values.end(), list.begin(), list.end());
  return values;
}

RankRecord record_from(std::span<const int64_t> numbers) {
  demand_fits(numbers);
  Numbers value(numbers);
  RankRecord record;
  for (auto* list : {&record.sent_to, &record.forward_heads}) list->resize(value.next());
  record.received_from.resize(record.sent_to.size());
  record.backward_heads.resize(record.forward_heads.size());
  for (Counters* c : {&record.forward, &record.backward}) {
    for (int64_t* field : {&c->bytes_sent, &c->bytes_received, &c->messages, &c->pairs, &c->flops,
                           &c->steps, &c->merges, &c->computed, &c->unwaited})
      *field = value.next();
    const int64_t overlapped = value.next();
    c->overlapped = overlapped == kNone ? std::nullopt : std::optional(overlapped);
  }
  for (Stock* s : {&record.forward_stock, &record.backward_stock}) {
    for (int64_t* field : {&s->attending, &s->after}) *field = value.next();
    for (int64_t& peak : s->peaks) peak = value.next();
  }
  for (Seconds* s : {&record.forward_seconds, &record.backward_seconds})
    for (double* part : {&s->attention, &s->communication, &s->exposed, &s->overlapped})
      *part = std::bit_cast<double>(value.next());
  for (int64_t* field : {&record.bytes_sent, &record.bytes_received, &record.messages, &record.peak_bytes,
                         &record.kv_bytes, &record.traveller_bytes, &record.grown_bytes})
    *field = value.next();
  for (int64_t& pads : record.wrong_pads) pads = value.next();
  for (auto* list : {&record.sent_to, &record.received_from, &record.forward_heads, &record.backward_heads})
    value.into(*list);
  return record;
}

}  // namespace ringcheck::parity
