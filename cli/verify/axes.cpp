// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/axes.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>

#include "cli/subcommand.h"
#include "parity/case/data_family.h"
#include "parity/case/text.h"

namespace ringcheck::cli {
namespace {

using parity::BadCase;
using parity::Case;

Axis name_axis(const std::string& name, const std::string& help, std::string Case::*part) {
  return {name, help, [part](Case& c, const std::string& text) { c.*part = text; },
          [part](const Case& c) { return c.*part; }};
}

int64_t size_of(const std::string& name, const std::string& text) {
  try {
    return parity::parse_size(text);
  } catch (const BadCase& error) {
    throw BadCase("--" + name + ": " + error.what());
  }
}

Axis size_axis(const std::string& name, const std::string& help, int64_t Case::*part) {
  return {name, help,
          [name, part](Case& c, const std::string& text) { c.*part = size_of(name, text); },
          [part](const Case& c) { return std::to_string(c.*part); }};
}

void set_world(Case& c, const std::string& text) {
  c.world = static_cast<int>(std::clamp<int64_t>(size_of("world", text), -(1 << 20), 1 << 20));
}

void set_scale(Case& c, const std::string& text) {
  if (text == "default")
    c.scale.reset();
  else
    c.scale = parity::parse_number(text);
}

void set_seed(Case& c, const std::string& text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c.seed);
  if (error != std::errc{} || end != text.data() + text.size())
    throw BadCase("--seed: '" + text + "' is not a seed; want an integer from 0 to 2^64 - 1");
}

std::string rotation_text(const Case& c) { return c.rotation + (c.keep ? "[keep]" : ""); }
std::string balance_text(const Case& c) {
  return c.balance +
         (Balancers::at(c.balance).takes_block ? "[" + std::to_string(c.block) + "]" : "");
}

template <class Table>
std::string names_of(const Table& table) {
  return c10::Join(", ", std::views::keys(table));
}

std::string bare(const std::string& text) { return text.substr(0, text.find('[')); }

void follow(Case& test, const AxisValues& values) {
  const auto said = [&](const char* name) { return values.count(name) > 0; };
  if (said("heads") && !said("kv-heads"))
    test.kv_heads = test.q_heads;
  if (said("dim") && !said("dim-v"))
    test.dim_v = test.dim;
  const Mask mask = parity::mask_of(test);
  if (const Documents* packed = documents(mask); packed && !said("seq"))
    test.seq = parity::slots_of(*packed);
}

// The form in which get() gives it; what cannot be parsed stays, and then matches no case.
std::string canonical(const Axis& axis, const std::string& value) {
  try {
    Case test;
    axis.set(test, value);
    return axis.get(test);
  } catch (const BadCase&) {
    return value;
  }
}

bool matches(const Axis& axis, const Case& test, const std::string& value) {
  const std::string own = axis.get(test);
  return own == canonical(axis, value) || bare(own) == value;
}

void check_occurs(const Axis& axis, const std::vector<Case>& cases, const std::string& value) {
  std::set<std::string> known;
  for (const Case& test : cases) {
    if (matches(axis, test, value))
      return;
    known.insert(bare(axis.get(test)));
  }
  throw UsageError("the profile has no case with --" + axis.name + " " + value +
                   "; it has: " + c10::Join(", ", known));
}

}  // namespace

const std::vector<Axis>& axes() {
  static const std::vector<Axis> table{
      {"world", "ranks", set_world, [](const Case& c) { return std::to_string(c.world); }},
      name_axis("strategy", names_of(Strategies::all()), &Case::strategy),
      {"rotation", names_of(Rotations::all()) + "; allgather[keep] gathers once for both passes",
       [](Case& c, const std::string& text) { parity::parse_rotation(text, c); }, rotation_text},
      {"balance", names_of(Balancers::all()) + "[BLOCK]",
       [](Case& c, const std::string& text) { parity::parse_balance(text, c); }, balance_text},
      name_axis("kernel", names_of(AttentionKernels::all()), &Case::kernel),
      {"mask", "full, causal, window[W], doc[L,...], docfull[L,...], prefix[N]; L:SLOTS has pads",
       [](Case& c, const std::string& text) { c.mask = parity::parse_mask(text); },
       [](const Case& c) { return parity::mask_text(c.mask); }},
      {"dtype", "float64, float32, bf16, fp16",
       [](Case& c, const std::string& text) { c.dtype = parity::parse_dtype(text); },
       [](const Case& c) { return parity::dtype_text(c.dtype); }},
      size_axis("seq", "length of the sequence: 4096, 4K, 1M", &Case::seq),
      size_axis("heads", "query heads", &Case::q_heads),
      size_axis("kv-heads", "key-value heads; as many as query heads", &Case::kv_heads),
      size_axis("dim", "channels of a query or key head", &Case::dim),
      size_axis("dim-v", "channels of a value head; as --dim", &Case::dim_v),
      size_axis("batch", "sequences", &Case::batch),
      {"rope", "none, half[BASE], interleaved[BASE], half[BASE,llama3]",
       [](Case& c, const std::string& text) { c.rope = parity::parse_rope(text); },
       [](const Case& c) { return parity::rope_text(c.rope); }},
      {"scale", "of the logits; default: 1 / sqrt(dim)", set_scale,
       [](const Case& c) { return c.scale ? parity::number_text(*c.scale) : "default"; }},
      name_axis("data", names_of(parity::DataFamilies::all()), &Case::data),
      {"seed", "of the data", set_seed, [](const Case& c) { return std::to_string(c.seed); }},
      name_axis("device", "cpu, cuda", &Case::device),
      name_axis("world-kind", "thread: ranks in one process; mpi: a process a rank, over NCCL on GPUs",
                &Case::world_kind)};
  return table;
}

std::vector<std::string> split_values(const std::vector<std::string>& lists) {
  std::vector<std::string> values;
  for (const std::string& list : lists)
    for (const std::string& value : parity::split(list, ',')) {
      if (value.empty())
        throw BadCase("the list '" + list + "' has an empty value");
      values.push_back(value);
    }
  return values;
}

std::vector<Case> product(const AxisValues& values, const Case& base) {
  std::vector<Case> cases{base};
  for (const Axis& axis : axes()) {
    const auto given = values.find(axis.name);
    if (given == values.end())
      continue;
    std::vector<Case> more;
    for (const Case& test : cases)
      for (const std::string& value : given->second) {
        more.push_back(test);
        axis.set(more.back(), value);
      }
    cases = std::move(more);
  }
  for (Case& test : cases) {
    follow(test, values);
    parity::validate(test);
  }
  return cases;
}

std::vector<Case> filtered(std::vector<Case> cases, const AxisValues& values) {
  for (const Axis& axis : axes()) {
    const auto given = values.find(axis.name);
    if (given == values.end())
      continue;
    if (axis.name == "seed") {
      if (given->second.size() > 1)
        throw UsageError("--seed takes one value beside --profile, whose cases it replaces");
      for (Case& test : cases) {
        axis.set(test, given->second.front());
        parity::validate(test);
      }
      continue;
    }
    for (const std::string& value : given->second)
      check_occurs(axis, cases, value);
    std::erase_if(cases, [&](const Case& test) {
      return std::none_of(given->second.begin(), given->second.end(),
                          [&](const std::string& value) { return matches(axis, test, value); });
    });
  }
  return cases;
}

}  // namespace ringcheck::cli
