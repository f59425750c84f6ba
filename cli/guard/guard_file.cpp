// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/guard_file.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "cli/subcommand.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"

namespace ringcheck::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw UsageError("guard: '" + path + "' " + what);
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
  const at::Tensor first = wrong.nonzero()[0];
  const std::vector<int64_t> place(first.const_data_ptr<int64_t>(),
                                   first.const_data_ptr<int64_t>() + first.numel());
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
  if (!lse.is_floating_point() || lse.sizes() != shard.q.sizes().slice(0, 3))
    refuse(path, c10::str("has lse of shape ", lse.sizes(), " and dtype ", lse.scalar_type(),
                          "; want [batch, q_heads, seq] = ", shard.q.sizes().slice(0, 3),
                          " of a floating dtype"));
  note_not_finite(path, "lse", lse.isnan() | lse.isposinf(), findings);
  const at::Tensor empty = lse.isneginf();
  for (const auto& [name, x] : {std::pair("o", shard.o), std::pair("dq", shard.dq)})
    if ((x.ne(0).any(-1) & empty).any().item<bool>())
      findings.push_back(c10::str(path, ": ", name, " is not zero in a row whose lse is -inf"));
  return empty;
}

int whole_number(const std::string& path, const parity::Safetensors& file, const char* name,
                 int otherwise) {
  const auto found = file.metadata.find(name);
  if (found == file.metadata.end())
    return otherwise;
  const double value = parity::parse_number(found->second);
  if (!(value >= 0 && value < 1 << 20) || value != std::floor(value))
    refuse(path, "has metadata " + std::string(name) + " = '" + found->second +
                     "'; want a whole number from 0 to 1048575");
  return static_cast<int>(value);
}

void read_metadata(const std::string& path, const parity::Safetensors& file, int64_t dim,
                   GuardFile& into) {
  const auto text = [&](const char* name) {
    const auto found = file.metadata.find(name);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  const std::string scale = text("scale");
  into.scale = scale.empty() || scale == "default" ? 1 / std::sqrt(static_cast<double>(dim))
                                                   : parity::parse_number(scale);
  if (!std::isfinite(into.scale))
    refuse(path, "has metadata scale = '" + scale + "'; want a finite number");
  into.rotated = text("rope").empty() || text("rope") == "none";
  into.rank = whole_number(path, file, "rank", -1);
  into.world = std::max(1, whole_number(path, file, "world", 1));
}

}  // namespace

GuardFile read_guard_file(const std::string& path) {
  const parity::Safetensors file = parity::read_safetensors(path);
  GuardFile result;
  parity::AttentionShard shard;
  const std::pair<const char*, at::Tensor*> members[] = {
      {"q", &shard.q}, {"k", &shard.k}, {"v", &shard.v},   {"o", &shard.o},
      {"do", &shard.d_o}, {"dq", &shard.dq}, {"dk", &shard.dk}, {"dv", &shard.dv}};
  for (const auto& [name, member] : members) {
    *member = tensor_of(path, file, name);
    result.dtypes.insert(member->scalar_type());
    note_not_finite(path, name, member->isfinite().logical_not(), result.findings);
  }
  read_metadata(path, file, shard.q.size(3), result);
  shard.empty_rows = empty_rows(path, file, shard, result.findings);
  try {
    result.sums = parity::conservation_sums(shard);
  } catch (const std::invalid_argument& error) {
    refuse(path, std::string("does not hold one attention problem: ") + error.what());
  }
  return result;
}

}  // namespace ringcheck::cli
