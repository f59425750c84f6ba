// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/guard_file.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <charconv>
#include <cmath>
#include <ranges>

#include "cli/subcommand.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"
#include "parity/case/text/scale.h"

namespace ringcheck::cli {
namespace {

constexpr int kMostRanks = 1 << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw UsageError("'" + path + "' " + what);
}

const at::Tensor& tensor_of(const std::string& path, const parity::Safetensors& file,
                            const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end())
    refuse(path, "has no tensor '" + name + "'; want q, k, v, o, do, dq, dk, dv and, perhaps, lse");
  const at::Tensor& x = found->second;
  if (x.dim() != 4 || x.size(0) == 0 || x.size(1) == 0 || x.size(3) == 0)
    refuse(path, c10::str("has ", name, " of shape ", x.sizes(),
                          "; want [batch, heads, seq, dim], none but seq 0"));
  if (!x.is_floating_point())
    refuse(path, "has " + name + " of dtype " + c10::toString(x.scalar_type()) +
                     "; want float64, float32, bfloat16 or float16");
  return x;
}

// Says how many elements are not finite, and where the first is.
void note_not_finite(const std::string& path, const std::string& name, const at::Tensor& wrong,
                     std::vector<std::string>& findings) {
  const int64_t count = wrong.sum().item<int64_t>();
  if (count == 0)
    return;
  int64_t at = wrong.view(at::kByte).argmax().item<int64_t>();  // the first, without a list of all
  std::vector<int64_t> place(wrong.sizes().begin(), wrong.sizes().end());
  for (int64_t& size : place | std::views::reverse) {
    const int64_t index = at % size;
    at /= size;
    size = index;
  }
  findings.push_back(c10::str(path, ": ", name, " has ", count, " values that are not finite, the first at ",
                              at::IntArrayRef(place)));
}

// Queries that see no key; undefined without LSE.
at::Tensor empty_rows(const std::string& path, const parity::Safetensors& file,
                      const parity::AttentionShard& shard, std::vector<std::string>& findings) {
  const auto found = file.tensors.find("lse");
  if (found == file.tensors.end())
    return {};
  const at::Tensor& lse = found->second;
  const at::IntArrayRef rows = shard.q.sizes().slice(0, 3);
  const bool turned = lse.dim() == 3 && lse.transpose(1, 2).sizes() == rows;
  if (!lse.is_floating_point() || lse.sizes() != rows)
    refuse(path, c10::str("has lse of shape ", lse.sizes(), " and dtype ", lse.scalar_type(),
                          "; want [batch, q_heads, seq] = ", rows, " of a floating dtype",
                          turned ? "; would fit tensors dumped as [batch, seq, heads, dim]" : ""));
  note_not_finite(path, "lse", lse.isnan() | lse.isposinf(), findings);
  const at::Tensor empty = lse.isneginf();
  for (const auto& [name, x] : {std::pair("o", shard.o), std::pair("dq", shard.dq)})
    if ((x.ne(0).any(-1) & empty).any().item<bool>())
      findings.push_back(c10::str(path, ": ", name, " is not zero in a row whose lse is -inf"));
  return empty;
}

// A member of the metadata; empty: it has none of this name.
std::string said_of(const std::string& name, const parity::Safetensors& file) {
  const auto found = file.metadata.find(name);
  return found == file.metadata.end() ? "" : found->second;
}

int whole_number(const std::string& path, const std::string& name, const std::string& text, int least) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end || value < least || value > kMostRanks)
    refuse(path, "has metadata " + name + " = '" + text + "'; want a whole number from " +
                     std::to_string(least) + " to " + std::to_string(kMostRanks));
  return value;
}

double scale_in(const std::string& path, const std::string& text, int64_t dim) {
  if (text.empty() || text == "default") return 1 / std::sqrt(static_cast<double>(dim));
  try {
    const double scale = parity::parse_number(text);
    parity::check_scale(scale);
    return scale;
  } catch (const parity::BadCase& error) {
    refuse(path, "has metadata scale = '" + text + "': " + error.what());
  }
}

void read_metadata(const std::string& path, const parity::Safetensors& file, int64_t dim,
                   GuardFile& into) {
  const std::string rope = said_of("rope", file), rank = said_of("rank", file),
                    world = said_of("world", file);
  into.scale = scale_in(path, said_of("scale", file), dim);
  into.rotated = rope.empty() || rope == "none";
  if (rank.empty() != world.empty())
    refuse(path, "has metadata " + std::string(rank.empty() ? "world" : "rank") + " without " +
                     (rank.empty() ? "rank" : "world") + "; give both, or neither");
  if (rank.empty()) return;
  into.world = whole_number(path, "world", world, 1);
  into.rank = whole_number(path, "rank", rank, 0);
  if (into.rank >= into.world)
    refuse(path, "has metadata rank = '" + rank + "' and world = '" + world +
                     "'; want ranks from 0 to " + std::to_string(into.world - 1));
}

// A mistake that the shapes give away.
std::string hint(const parity::AttentionShard& x) {
  const auto heads = [](const at::Tensor& t) { return t.size(1); };
  if (heads(x.k) < heads(x.q) && heads(x.dk) == heads(x.q) && heads(x.dv) == heads(x.q))
    return c10::str("; dk and dv have a head for each of q: add up each group of ",
                    heads(x.q) / heads(x.k));
  const auto turned = [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() != b.sizes() && a.transpose(1, 2).sizes() == b.sizes();
  };
  const bool keys_turned = x.q.size(2) == x.k.size(1) && x.q.size(2) != x.k.size(2);
  if (keys_turned || turned(x.q, x.dq) || turned(x.k, x.dk) || turned(x.v, x.dv) || turned(x.o, x.d_o) ||
      (x.q.size(3) == x.o.size(3) && turned(x.q, x.o)))
    return "; some are [batch, seq, heads, dim]: exchange their sizes 1 and 2";
  return "";
}

void check_one_problem(const std::string& path, const parity::AttentionShard& shard) {
  try {
    parity::check_shapes(shard);
  } catch (const std::invalid_argument& error) {
    refuse(path, std::string("does not hold one attention problem: ") + error.what() + hint(shard));
  }
}

}  // namespace

GuardFile read_guard_file(const std::string& path) {
  const parity::Safetensors file = parity::read_safetensors(path);
  GuardFile result;
  parity::AttentionShard& shard = result.shard;
  const std::pair<const char*, at::Tensor*> members[] = {
      {"q", &shard.q}, {"k", &shard.k}, {"v", &shard.v},   {"o", &shard.o},
      {"do", &shard.d_o}, {"dq", &shard.dq}, {"dk", &shard.dk}, {"dv", &shard.dv}};
  for (const auto& [name, member] : members) {
    *member = tensor_of(path, file, name);
    result.dtypes.insert(member->scalar_type());
    note_not_finite(path, name, member->isfinite().logical_not(), result.findings);
  }
  read_metadata(path, file, shard.q.size(3), result);
  check_one_problem(path, shard);
  shard.empty_rows = empty_rows(path, file, shard, result.findings);
  result.has_lse = shard.empty_rows.defined();
  return result;
}

}  // namespace ringcheck::cli
