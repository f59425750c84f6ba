// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Which cases there are.
#include <algorithm>
#include <cmath>

#include "parity/case/balance/own_balance.h"
#include "parity/case/data_family.h"
#include "parity/case/part.h"
#include "parity/case/text.h"
#include "parity/case/text/scale.h"

namespace ringcheck::parity {
namespace {

// Beyond any machine; bytes and pairs are counted in 64 bits.
constexpr double kMostElements = 0x1p50, kMostPairs = 0x1p62;
// A block of so many tokens costs nothing, also where the sequence is shorter.
constexpr int64_t kSmallBlock = 64;

void between(const std::string& what, int64_t value, int64_t most) {
  if (value < 1)
    throw BadCase(what + " is " + std::to_string(value) + "; it must be at least 1");
  if (value > most)
    throw BadCase(what + " is " + std::to_string(value) + "; it must be at most " +
                  std::to_string(most));
}

void known_data(const std::string& name) {
  if (DataFamilies::all().contains(name)) return;
  std::vector<std::string> names{"tensors[FILE]"};
  for (const auto& [known, family] : DataFamilies::all()) names.push_back(known);
  throw BadCase(unknown_name("data family", name, names));
}

void check_names(const Case& c) {
  known_name("strategy", c.strategy, Strategies::all());
  if (!cuts_itself(c)) known_name("balancer", c.balance, Balancers::all());
  else if (!OwnBalances::all().contains(parse_call(c.subject).name))
    throw BadCase("balance own is of subjects that cut the sequence themselves, and " + c.subject +
                  " is none; name a balancer");
  known_name("kernel", c.kernel, AttentionKernels::all());
  if (c.world_kind != "thread" && c.world_kind != "mpi")
    throw BadCase(unknown_name("world kind", c.world_kind, {"thread", "mpi"}));
  if (c.device != "cpu" && c.device != "cuda")
    throw BadCase(unknown_name("device", c.device, {"cpu", "cuda"}));
  const Call data = parse_call(c.data);
  if (data.name != "tensors") known_data(c.data);
  else if (data.arguments.size() != 1 || data.arguments[0].empty())
    throw BadCase("data '" + c.data + "' names no file; want tensors[FILE.safetensors]");
}

void check_sizes(const Case& c) {
  for (const Part& part : parts())
    if (part.most > 0) between(part.option, std::stoll(part.print(c)), part.most);
  between("block", c.block, std::max(c.seq, kSmallBlock));
  const double rows = static_cast<double>(c.batch * c.q_heads) * static_cast<double>(c.seq);
  const double elements = rows * static_cast<double>(c.dim + c.dim_v);
  if (elements > kMostElements || rows * static_cast<double>(c.seq) > kMostPairs)
    throw BadCase("q and o have " + number_text(elements) + " elements and " +
                  number_text(rows * static_cast<double>(c.seq)) +
                  " scores; at most 2^50 and 2^62: use a smaller batch, heads, seq or dim");
}

}  // namespace

void validate(const Case& c) {
  check_names(c);
  check_sizes(c);
  if (c.block != 1 && (cuts_itself(c) || !Balancers::at(c.balance).takes_block))
    throw BadCase("balancer " + c.balance + " takes no block size, got " + std::to_string(c.block));
  if (c.q_heads % c.kv_heads != 0)
    throw BadCase("heads " + std::to_string(c.q_heads) + " is not a multiple of kv-heads " +
                  std::to_string(c.kv_heads) + "; every key-value head serves equally many query heads");
  if (c.rope.pairing != Rope::Pairing::kNone && c.dim % 2 != 0)
    throw BadCase("RoPE rotates pairs of channels, dim is " + std::to_string(c.dim) +
                  "; use an even dim or rope none");
  if (c.scale) check_scale(*c.scale);
  const Mask mask = mask_of(c);
  if (const Documents* packed = documents(mask); packed && slots_of(*packed) != c.seq)
    throw BadCase("the documents of " + mask_text(c.mask) + " take " +
                  std::to_string(slots_of(*packed)) + " slots, seq is " + std::to_string(c.seq) +
                  "; make them equal or leave seq out");
  check_lengths(c);
  if (const auto family = DataFamilies::all().find(c.data); family != DataFamilies::all().end())
    if (const auto reason = family->second.refuses(c))
      throw BadCase("data family " + c.data + " " + *reason);
}

}  // namespace ringcheck::parity
