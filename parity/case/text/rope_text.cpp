// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

// The arguments after the base: llama3, or llama3,FACTOR,LOW,HIGH,ORIGINAL_LENGTH.
Rope::Llama3 parse_llama3(const Call& call, const std::string& text) {
  const auto& arguments = call.arguments;
  if (arguments[1] != "llama3")
    throw BadCase("RoPE '" + text + "': " + unknown_name("scaling", arguments[1], {"llama3"}));
  if (arguments.size() != 2 && arguments.size() != 6)
    throw BadCase("RoPE '" + text + "' has " + std::to_string(arguments.size()) + " arguments; want " + call.name +
                  "[BASE,llama3] or " + call.name + "[BASE,llama3,FACTOR,LOW,HIGH,ORIGINAL_LENGTH]");
  Rope::Llama3 scaling;
  if (arguments.size() == 6)
    scaling = {parse_number(arguments[2]), parse_number(arguments[3]), parse_number(arguments[4]),
               parse_number(arguments[5])};
  const bool finite = std::isfinite(scaling.factor) && std::isfinite(scaling.low) &&
                      std::isfinite(scaling.high) && std::isfinite(scaling.original_length);
  if (!(finite && scaling.factor > 0 && scaling.low < scaling.high && scaling.original_length > 0))
    throw BadCase("RoPE scaling in '" + text + "' needs finite numbers, FACTOR > 0, LOW < HIGH, "
                  "ORIGINAL_LENGTH > 0");
  return scaling;
}

std::string llama3_text(const Rope::Llama3& scaling) {
  std::string text = ",llama3";
  if (!(scaling == Rope::Llama3{}))
    for (const double value : {scaling.factor, scaling.low, scaling.high, scaling.original_length})
      text += "," + number_text(value);
  return text;
}

}  // namespace

Rope parse_rope(const std::string& text) {
  const Call call = parse_call(text);
  Rope rope;
  if (call.name == "none" && call.arguments.empty()) return rope;
  if (call.name == "half") rope.pairing = Rope::Pairing::kHalf;
  else if (call.name == "interleaved") rope.pairing = Rope::Pairing::kInterleaved;
  else throw BadCase(unknown_name("RoPE", text, {"none", "half[BASE]", "interleaved[BASE]",
                                                 "half[BASE,llama3]"}));
  if (!call.arguments.empty()) rope.base = parse_number(call.arguments[0]);
  if (!(rope.base > 1) || !std::isfinite(rope.base))
    throw BadCase("RoPE base " + call.arguments[0] + " must be above 1, for example half[10000]");
  if (call.arguments.size() > 1) rope.llama3 = parse_llama3(call, text);
  return rope;
}

std::string rope_text(const Rope& rope) {
  if (rope.pairing == Rope::Pairing::kNone) return "none";
  const std::string name = rope.pairing == Rope::Pairing::kHalf ? "half" : "interleaved";
  return name + "[" + number_text(rope.base) + (rope.llama3 ? llama3_text(*rope.llama3) : "") + "]";
}

}  // namespace ringcheck::parity
