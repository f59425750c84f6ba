// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/attention_kernel.h"

namespace ringcheck {

Visibility visibility_of(const QBlock& q, const KvBlock& kv, const Scores& scores) {
  return {scores.mask, q.positions, kv.positions};
}

CallBytes result_bytes(const BlockShape& shape, int64_t beside) {
  const auto wide = static_cast<int64_t>(c10::elementSize(accumulation_type(shape.dtype)));
  const int64_t rows = shape.batch * shape.q_heads * count(shape.visibility.queries());
  const int64_t keys = shape.batch * shape.kv_heads * count(shape.visibility.keys());
  return {rows * (shape.dim_v + 1) * wide + beside,
          (rows * shape.dim + keys * (shape.dim + shape.dim_v)) * wide + beside};
}

std::vector<std::string> kernels_on(at::DeviceType device) {
  BlockShape usual;
  usual.device = device == at::kCPU ? at::Device(device) : at::Device(device, 0);
  usual.dim = usual.dim_v = 64;
  usual.visibility = {{Causal{}, 64}, {{0, 64}}, {{0, 64}}};
  std::vector<std::string> names;
  for (const auto& [name, kernel] : AttentionKernels::all())
    for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat}) {
      usual.dtype = dtype;
      if (kernel->refuses(usual)) continue;
      names.push_back(name);
      break;
    }
  return names;
}

std::string plainest_kernel(at::DeviceType device) {
  return device == at::kCPU ? "plain" : "tiled";
}

}  // namespace ringcheck
