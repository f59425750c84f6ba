// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/key_runs.h"

#include <algorithm>
#include <functional>
#include <future>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ringcheck::reference {
namespace {

constexpr int64_t kAllPairs = 4096;  // length up to which every pair is evaluated
constexpr int64_t kKeysVerified = 64;

// The first x of low ... high that `holds`, if from some x on all do; high if none does.
template <class Predicate>
int64_t first(int64_t low, int64_t high, Predicate holds) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Number n of a sequence that fills 0 ... length - 1 evenly: multiples of the golden ratio, modulo 1.
int64_t spread(uint64_t n, int64_t length) {
  const uint64_t fraction = n * 0x9e3779b97f4a7c15;
  return static_cast<int64_t>((static_cast<unsigned __int128>(fraction) *
                               static_cast<unsigned __int128>(length)) >> 64);
}

void verify(const Mask& mask, int64_t q, int64_t k, int64_t begin, int64_t end) {
  if (visible(mask, q, k) != (begin <= k && k < end))
    throw std::logic_error("the keys of query " + std::to_string(q) + " are not the run " +
                           std::to_string(begin) + " ... " + std::to_string(end - 1) +
                           ": see key " + std::to_string(k));
}

void find_run(const Mask& mask, int64_t q, KeyRuns& runs) {
  int64_t begin = 0, end = 0;
  if (visible(mask, q, q)) {
    begin = first(0, q, [&](int64_t k) { return visible(mask, q, k); });
    end = first(q, mask.length, [&](int64_t k) { return !visible(mask, q, k); });
  }
  if (mask.length <= kAllPairs)
    for (int64_t k = 0; k < mask.length; ++k) verify(mask, q, k, begin, end);
  else
    for (int64_t n = 0; n < kKeysVerified; ++n)
      verify(mask, q, spread(q * kKeysVerified + n, mask.length), begin, end);
  runs.begin[q] = static_cast<int32_t>(begin);
  runs.end[q] = static_cast<int32_t>(end);
}

// Calls work(from, to) for parts of 0 ... count - 1, on as many threads as there are cores, however few
// LibTorch may compute on: whole numbers do not depend on how many. The first exception is thrown here.
void by_all_cores(int64_t count, const std::function<void(int64_t, int64_t)>& work) {
  constexpr int64_t kLeast = 1024;  // of a part
  const auto cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t size = std::max(kLeast, (count + cores - 1) / cores);
  std::vector<std::future<void>> parts;
  for (int64_t from = size; from < count; from += size)
    parts.push_back(std::async(std::launch::async, work, from, std::min(count, from + size)));
  work(0, std::min(count, size));
  for (std::future<void>& part : parts) part.get();
}

}  // namespace

KeyRuns key_runs(const Mask& mask) {
  if (mask.length > std::numeric_limits<int32_t>::max())
    throw std::invalid_argument("attention: a sequence of more than 2^31 - 1 slots");
  KeyRuns runs{std::vector<int32_t>(mask.length), std::vector<int32_t>(mask.length), mask.length};
  by_all_cores(mask.length, [&](int64_t from, int64_t to) {
    for (int64_t q = from; q < to; ++q) find_run(mask, q, runs);
  });
  return runs;
}

KeyRuns of_queries(const KeyRuns& runs, const std::vector<int64_t>& queries) {
  KeyRuns some{{}, {}, runs.keys};
  for (const int64_t q : queries) {
    some.begin.push_back(runs.begin.at(q));
    some.end.push_back(runs.end.at(q));
  }
  return some;
}

KeyRuns of_keys(const KeyRuns& runs, const std::vector<int64_t>& keys) {
  // Of the kept keys, how many lie before each position.
  std::vector<int32_t> before(runs.keys + 1, 0);
  for (const int64_t key : keys) ++before.at(key + 1);
  std::partial_sum(before.begin(), before.end(), before.begin());
  KeyRuns some{runs.begin, runs.end, static_cast<int64_t>(keys.size())};
  for (auto* edges : {&some.begin, &some.end})
    for (int32_t& edge : *edges) edge = before[edge];
  return some;
}

std::vector<int64_t> queries_of_keys(const KeyRuns& runs) {
  std::vector<int64_t> count(runs.keys + 1, 0);
  for (int64_t q = 0; q < runs.queries(); ++q) {
    ++count[runs.begin[q]];
    --count[runs.end[q]];
  }
  std::partial_sum(count.begin(), count.end(), count.begin());
  count.pop_back();
  return count;
}

}  // namespace ringcheck::reference
