// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Which cases there are.
#include <cmath>

#include "parity/case/data_family.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

void positive(const char* what, int64_t value) {
  if (value < 1)
    throw BadCase(std::string(what) + " is " + std::to_string(value) + "; it must be at least 1");
}

void check_names(const Case& c) {
  known_name("strategy", c.strategy, Strategies::all());
  known_name("balancer", c.balance, Balancers::all());
  known_name("kernel", c.kernel, AttentionKernels::all());
  if (c.world_kind != "thread" && c.world_kind != "mpi")
    throw BadCase("unknown world kind '" + c.world_kind + "'; known: thread, mpi");
  if (c.device != "cpu" && c.device != "cuda")
    throw BadCase("unknown device '" + c.device + "'; known: cpu, cuda");
  if (parse_call(c.data).name != "tensors") known_name("data family", c.data, DataFamilies::all());
}

void check_sizes(const Case& c) {
  positive("world", c.world);
  if (c.world > 256)
    throw BadCase("world is " + std::to_string(c.world) + "; at most 256 ranks on one machine");
  positive("batch", c.batch);
  positive("heads", c.q_heads);
  positive("kv-heads", c.kv_heads);
  positive("seq", c.seq);
  positive("dim", c.dim);
  positive("dim-v", c.dim_v);
  positive("block", c.block);
}

}  // namespace

void validate(const Case& c) {
  check_names(c);
  check_sizes(c);
  if (c.block != 1 && !Balancers::at(c.balance).takes_block)
    throw BadCase("balancer " + c.balance + " takes no block size, got " + std::to_string(c.block));
  if (c.q_heads % c.kv_heads != 0)
    throw BadCase("heads " + std::to_string(c.q_heads) + " is not a multiple of kv-heads " +
                  std::to_string(c.kv_heads) + "; every key-value head serves equally many query heads");
  if (c.rope.pairing != Rope::Pairing::kNone && c.dim % 2 != 0)
    throw BadCase("RoPE rotates pairs of channels, dim is " + std::to_string(c.dim) +
                  "; use an even dim or rope none");
  if (c.scale && !std::isfinite(*c.scale))
    throw BadCase("scale " + number_text(*c.scale) + " must be finite");
  const Mask mask = mask_of(c);
  if (const Documents* packed = documents(mask); packed && slots_of(*packed) != c.seq)
    throw BadCase("the documents of " + mask_text(c.mask) + " take " +
                  std::to_string(slots_of(*packed)) + " slots, seq is " + std::to_string(c.seq) +
                  "; make them equal or leave seq out");
  if (const auto family = DataFamilies::all().find(c.data); family != DataFamilies::all().end())
    if (const auto reason = family->second.refuses(c))
      throw BadCase("data family " + c.data + " " + *reason);
}

}  // namespace ringcheck::parity
