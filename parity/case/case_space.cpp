// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/case_space.h"

#include <bit>
#include <cmath>
#include <set>
#include <stdexcept>
#include <tuple>

#include "parity/case/data/soft_data.h"
#include "parity/case/data_family.h"
#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

// Documents over 2^k slots that see 2^i keys each.
decltype(Mask::kind) powers_of_two(const std::string& kind, int64_t slots) {
  if (slots >= 4 && kind == "docfull")
    return DocumentFull{{{slots / 2, slots / 2}, {slots / 4, slots / 4}, {slots / 4, slots / 4}}};
  if (slots >= 4 && kind == "docfull:pads")
    return DocumentFull{{{slots / 4, slots / 2}, {slots / 2, slots / 2}}};
  return Full{};
}

// Makes the case simpler until its data family takes it.
void suit(Case& test, const std::string& mask) {
  const auto taken = [&] { return !DataFamilies::at(test.data).refuses(test); };
  if (taken())
    return;
  test.rope = {};
  if (taken())
    return;
  test.scale = 0.25;
  if (taken())
    return;
  test.seq = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(test.seq)));
  test.mask = powers_of_two(mask, test.seq);
  if (taken())
    return;
  test.dim = test.dim_v = 16;
}

// A token sees 1.5 keys or more, on average: where it sees itself alone its score changes nothing.
bool shows_gradients(const Task& task) {
  const Positions all{{0, task.seq}};
  int64_t tokens = 0, pairs = 0;
  for (const Entries& some : entries_of(task)) {
    tokens += some.count * some.mask.length;
    pairs += some.count * visible_pairs(some.mask, all, all);
  }
  return 2 * pairs >= 3 * tokens;
}

// Entries of different lengths for some batches that can have them. By numbers of its own: what else is
// drawn does not depend on it.
void pad_entries(Case& test, const Ranges& ranges) {
  const Mask mask = mask_of(test);
  if (ranges.padded_one_in == 0 || test.batch == 1 || documents(mask) != nullptr) return;
  const Draw draw = drawn_from(~test.seed);
  if (draw(1, ranges.padded_one_in) > 1) return;
  part("lengths").draw(test, "", ranges, draw);
  if (DataFamilies::at(test.data).refuses(test) || !shows_gradients(test)) test.lengths.clear();
}

// Cases that show nothing: flat and all positive data in 16 bits, where dQ and dK vanish in the
// noise.
void avoid_vacuity(Case& test) {
  if (test.data == "uniform" && c10::elementSize(test.dtype) == 2)
    test.dtype = at::kFloat;
  // Only rounding to 16 bits leaves exact numbers.
  if (test.data == "snap" && c10::elementSize(test.dtype) > 2)
    test.dtype = c10::elementSize(test.dtype) == 4 ? at::kBFloat16 : at::kHalf;
  soften(test);
}

// RoPE turns pairs of channels.
void pair_channels(Case& test) {
  if (test.dim % 2 != 0) test.rope = {};
}

// A sequence for which there is time.
void shorten(Case& test, const std::string& how, Ranges ranges, const Draw& draw) {
  if (ranges.most_work == 0 || work_of(test) <= ranges.most_work) return;
  const auto per_pair = static_cast<double>(work_of(with(test, [](Case& c) { c.seq = 1; })));
  const auto most =
      static_cast<int64_t>(std::sqrt(static_cast<double>(ranges.most_work) / per_pair));
  ranges.most_seq = ranges.longest_seq = std::max<int64_t>(1, most);
  ranges.least_seq = std::min(ranges.least_seq, ranges.most_seq);
  part("seq").draw(test, how, ranges, draw);
  test.seq = std::min(test.seq, ranges.most_seq);
}

// The parts that are drawn, in the order in which they are chosen.
constexpr const char* kChosen[] = {"world", "strategy", "balance", "kernel", "mask",  "dtype", "seq",
                                   "heads", "dim",      "rope",    "scale",  "data", "batch"};

// Made after all others: a mask, which reaches as far as the sequence, and the seed.
constexpr const char* kLast[] = {"mask", "seed"};

}  // namespace

void deal_heads(Case& test) {
  const int64_t group = test.q_heads / test.kv_heads;
  const int64_t unit = Strategies::at(test.strategy).heads_unit(test.arguments, test.world);
  test.kv_heads = (test.kv_heads + unit - 1) / unit * unit;
  test.q_heads = test.kv_heads * group;
}

int64_t work_of(const Task& task) {
  const auto seq = static_cast<double>(task.seq);
  const double work = static_cast<double>(task.batch * task.q_heads) * seq * seq *
                      static_cast<double>(8 * task.dim + 6 * task.dim_v);
  return static_cast<int64_t>(std::min(work, 0x1p62));
}

std::vector<std::vector<BlockShape>> calls_by_block(const Case& test, const Layout& layout) {
  Plan plan = plan_of(with(test, [](Case& any) { any.kernel = Case{}.kernel; }));
  plan.layout = layout;
  std::vector<std::vector<BlockShape>> calls;
  for (const BlockShape& block : Strategies::at(test.strategy).blocks(plan, block_shape(test)))
    calls.push_back(calls_of(block, test.lengths));
  return calls;
}

int64_t shapes_to_plan(const Case& test) {
  if (test.kernel.find("cudnn") == std::string::npos) return 0;
  std::set<std::tuple<int64_t, Strip::Kind, int64_t, int64_t, int64_t>> shapes;
  for (const auto& calls : calls_by_block(test, layout_of(test)))
    for (const BlockShape& called : calls)
      for (const Strip& strip : called.visibility.strips()) {
        const bool mirrored = strip.kind == Strip::Kind::kMirrored;  // is computed as a causal one
        shapes.insert({called.batch, mirrored ? Strip::Kind::kCausal : strip.kind, strip.rows, strip.columns, strip.width});
      }
  return std::ssize(shapes);
}

CaseSpace::CaseSpace(Ranges ranges, const std::string& device)
    : ranges_(std::move(ranges)), device_(device) {
  Case probe;
  probe.device = device_;
  for (const std::string name : kChosen) {
    const auto named = ranges_.of.find(name);
    factors_.push_back({name, named != ranges_.of.end() ? named->second
                              : name == "kernel"        ? kernels_on(device_type_of(probe))
                                                        : part(name).values()});
  }
}

// Where there is no choice nothing is drawn.
CaseSpace::Choice CaseSpace::choose(const Draw& draw) const {
  Choice choice;
  for (const Factor& factor : factors_) {
    const auto last = static_cast<int64_t>(factor.values.size()) - 1;
    choice.push_back(last == 0 ? 0 : static_cast<int>(draw(0, last)));
  }
  return choice;
}

const std::string& CaseSpace::value(const Choice& choice, const std::string& factor) const {
  for (size_t i = 0; i < factors_.size(); ++i)
    if (factors_[i].name == factor)
      return factors_[i].values.at(static_cast<size_t>(choice.at(i)));
  throw std::logic_error("no factor " + factor);
}

Case CaseSpace::build(const Choice& choice, const Draw& draw) const {
  Case test;
  test.device = device_;
  for (const Factor& factor : factors_)
    if (std::ranges::find(kLast, factor.name) == std::end(kLast))
      part(factor.name).draw(test, value(choice, factor.name), ranges_, draw);
  pair_channels(test);
  deal_heads(test);
  shorten(test, value(choice, "seq"), ranges_, draw);
  part("mask").draw(test, value(choice, "mask"), ranges_, draw);
  part("seed").draw(test, "", ranges_, draw);
  avoid_vacuity(test);
  suit(test, value(choice, "mask"));
  pad_entries(test, ranges_);
  validate(test);
  const bool plans_many = ranges_.most_shapes > 0 && shapes_to_plan(test) > ranges_.most_shapes;
  if (plans_many || not_supported(test)) test.kernel = plainest_kernel(device_type_of(test));
  if (not_supported(test)) {
    test.strategy = Case{}.strategy;
    test.arguments = Case{}.arguments;
  }
  return test;
}

}  // namespace ringcheck::parity
