// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A padded batch: entries of one sequence of slots that hold different numbers of tokens.
#include <algorithm>

#include "parity/case/part.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using Lengths = std::vector<int64_t>;

// "16+9+1"; "" where every entry holds as many tokens as the sequence has slots.
std::string lengths_text(const Lengths& lengths) {
  std::string text;
  for (const int64_t length : lengths) text += (text.empty() ? "" : "+") + std::to_string(length);
  return text;
}

constexpr const char* kAll = "all";

Lengths parse_lengths(const std::string& text) {
  if (text == kAll) return {};
  Lengths lengths;
  for (const std::string& one : split(text, '+')) lengths.push_back(parse_size(one));
  if (lengths.size() == 1)
    throw BadCase("lengths '" + text + "' are of one batch entry; want those of two or more, 16+9+1, or " +
                  kAll);
  return lengths;
}

// Of any length; none and one token more often than others.
int64_t draw_length(int64_t seq, const Draw& draw) {
  const int64_t rare = draw(0, 5);
  return rare < 2 ? rare : draw(1, seq);
}

// One by one as long as the sequence, once all of them are not.
std::vector<Case> longer(const Case& test) {
  std::vector<Case> list;
  if (test.lengths.empty()) return list;
  list.push_back(with(test, [](Case& c) { c.lengths.clear(); }));
  for (size_t entry = 0; entry < test.lengths.size(); ++entry)
    list.push_back(with(test, [=](Case& c) {
      c.lengths[entry] = c.seq;
      c.lengths = lengths_within(c.lengths, c.seq);
    }));
  return list;
}

}  // namespace

int64_t length_of(const Task& task, int64_t entry) {
  return task.lengths.empty() ? task.seq : task.lengths.at(static_cast<size_t>(entry));
}

Mask mask_of(const Task& task, int64_t entry) { return {task.mask, length_of(task, entry)}; }

std::vector<Entries> entries_of(const Task& task) {
  if (task.lengths.empty()) return {{0, task.batch, mask_of(task)}};
  std::vector<Entries> list;
  for (int64_t entry = 0; entry < task.batch; ++entry) {
    if (entry > 0 && length_of(task, entry) == length_of(task, entry - 1)) ++list.back().count;
    else list.push_back({entry, 1, mask_of(task, entry)});
  }
  return list;
}

std::vector<int64_t> lengths_within(std::vector<int64_t> lengths, int64_t seq) {
  for (int64_t& length : lengths) length = std::min(length, seq);
  if (std::ranges::count(lengths, seq) == std::ssize(lengths)) lengths.clear();
  return lengths;
}

void check_lengths(const Task& task) {
  if (task.lengths.empty()) return;
  const std::string said = "lengths " + lengths_text(task.lengths);
  if (std::ssize(task.lengths) != task.batch)
    throw BadCase(said + " are of " + std::to_string(task.lengths.size()) + " batch entries, batch is " +
                  std::to_string(task.batch) + "; make them equal or leave batch out");
  const auto [least, most] = std::ranges::minmax(task.lengths);
  if (least < 0 || most != task.seq)
    throw BadCase(said + " need 0 to seq tokens, and seq in one entry at least; seq is " +
                  std::to_string(task.seq) + ": make it the longest or leave it out");
  if (least == task.seq)
    throw BadCase(said + " are those of entries that are all as long as the sequence; leave them out");
  const Mask mask = mask_of(task);
  if (documents(mask) != nullptr)
    throw BadCase(said + " beside mask " + mask_text(task.mask) +
                  ": packed documents say themselves where they are padded; leave one of them out");
}

Part lengths_part() {
  Part row{.name = "lengths", .option = "lengths", .prefix = "lengths:",
           .help = "L+L+...: tokens of each batch entry, the other slots are its pads; all: seq",
           .standard = kAll};
  row.claims = [](std::string_view) { return true; };
  row.print = [](const Case& c) { return lengths_text(c.lengths); };
  row.parse = [](Case& c, const std::string& text) { c.lengths = parse_lengths(text); };
  row.values = [] { return std::vector<std::string>{kAll}; };
  row.follow = [](Case& c, const std::set<std::string>& said) {
    if (c.lengths.empty()) return;
    if (!said.contains("batch")) c.batch = std::ssize(c.lengths);
    if (!said.contains("seq")) c.seq = std::ranges::max(c.lengths);
  };
  row.simpler = longer;
  row.draw = [](Case& c, const std::string&, const Ranges&, const Draw& draw) {
    c.lengths.assign(static_cast<size_t>(c.batch), 0);
    for (int64_t& length : c.lengths) length = draw_length(c.seq, draw);
    c.lengths.at(static_cast<size_t>(draw(0, c.batch - 1))) = c.seq;
    c.lengths = lengths_within(c.lengths, c.seq);
  };
  return row;
}

}  // namespace ringcheck::parity
