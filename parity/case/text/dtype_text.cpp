// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

// How PyTorch and others call them.
const std::map<std::string, std::string> kElsewhere{{"bfloat16", "bf16"}, {"float16", "fp16"}, {"half", "fp16"}, {"fp32", "float32"},
                                                    {"float", "float32"}, {"fp64", "float64"}, {"double", "float64"}};

}  // namespace

at::ScalarType parse_dtype(const std::string& text) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf})
    if (dtype_text(type) == text) return type;
  if (const auto known = kElsewhere.find(text); known != kElsewhere.end())
    throw BadCase("unknown dtype '" + text + "'; it is called " + known->second + " here");
  throw BadCase(unknown_name("dtype", text, {"float64", "float32", "bf16", "fp16"}));
}

std::string dtype_text(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble: return "float64";
    case at::kFloat: return "float32";
    case at::kBFloat16: return "bf16";
    case at::kHalf: return "fp16";
    default: return c10::toString(dtype);
  }
}

}  // namespace ringcheck::parity
