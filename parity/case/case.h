// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cp/layout/balancer.h"
#include "cp/attention/rope.h"
#include "cp/attention/strategy.h"
#include "reference/mask.h"

namespace ringcheck::parity {

// A Case, or a part of one, cannot be: says the value, the limit and the fix.
class BadCase : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// A plain value that says everything about one check.
struct Case {
  std::string strategy = "ring";
  std::string rotation = "alltoall";
  bool keep = false;                 // hold the gathered K and V for backward: allgather[keep]
  std::string balance = "headtail";
  int64_t block = 1;                 // of striped
  std::string kernel = "plain";
  decltype(Mask::kind) mask = Causal{};
  std::string world_kind = "thread"; // thread | mpi
  std::string device = "cpu";
  int world = 4;
  int64_t batch = 1;
  int64_t q_heads = 4;
  int64_t kv_heads = 2;
  int64_t seq = 256;
  int64_t dim = 32;
  int64_t dim_v = 32;
  at::ScalarType dtype = at::kBFloat16;
  Rope rope;
  std::optional<double> scale;       // default: 1 / sqrt(dim)
  std::string data = "spread3";      // a data family, or tensors[FILE.safetensors]
  uint64_t seed = 1;

  bool operator==(const Case&) const = default;
};

// The canonical text form, every part printed:
// ring:alltoall/headtail/plain/causal/thread/cpu/P4/b1/hq8/hkv2/s1024/d64/dv64/bf16/rope:none/scale:default/spread3/seed7
std::string to_text(const Case& test);
// Parts at their default may be left out; dv follows d, hkv follows hq, s follows the documents
// where they are not said. Throws BadCase.
Case parse_case(const std::string& text);

// Object with the parts as members; the mask, rope and data in their text form.
nlohmann::json to_json(const Case& test);
Case case_from_json(const nlohmann::json& json);

// The parts that the command line takes one by one, in their text form. Each throws BadCase.
decltype(Mask::kind) parse_mask(const std::string& text);
Rope parse_rope(const std::string& text);                     // none | half[base] | ...[base,llama3]
at::ScalarType parse_dtype(const std::string& text);          // float64 | float32 | bf16 | fp16
int64_t parse_size(const std::string& text);                  // 4096, 4K, 1M
void parse_rotation(const std::string& text, Case& test);     // p2p | alltoall | allgather[keep]
void parse_balance(const std::string& text, Case& test);      // headtail | striped[16] | ...
std::string mask_text(const decltype(Mask::kind)& mask);
std::string rope_text(const Rope& rope);
std::string dtype_text(at::ScalarType dtype);

// Throws BadCase where the parts contradict each other or cannot exist.
void validate(const Case& test);

int64_t slots_of(const Documents& documents);

// What follows from a case.
Mask mask_of(const Case& test);
double scale_of(const Case& test);
Layout layout_of(const Case& test);
Plan plan_of(const Case& test);
at::DeviceType device_type_of(const Case& test);
bool any_on_cuda(const std::vector<Case>& cases);

// Why this combination of parts cannot run, or nothing: valid, but not supported.
std::optional<std::string> not_supported(const Case& test);

}  // namespace ringcheck::parity
