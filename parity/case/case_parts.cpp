// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The parts of a Case that have parameters: mask, RoPE, rotation, balancer.
#include <cmath>

#include "parity/case/case.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using MaskKind = decltype(Mask::kind);

// length, or length:slots where the document has pads.
Document parse_document(const std::string& text) {
  const auto parts = split(text, ':');
  const int64_t length = parse_size(parts[0]);
  const int64_t slots = parts.size() > 1 ? parse_size(parts[1]) : length;
  if (parts.size() > 2 || length < 0 || slots < length || slots == 0)
    throw BadCase("document '" + text + "': want LENGTH or LENGTH:SLOTS with SLOTS >= LENGTH, SLOTS > 0");
  return {length, slots};
}

Documents parse_documents(const Call& call) {
  Documents documents;
  for (const std::string& item : call.arguments) documents.push_back(parse_document(item));
  if (documents.empty())
    throw BadCase("mask '" + call.name + "' needs document lengths, for example " + call.name + "[9,8,8]");
  return documents;
}

int64_t single_size(const Call& call, int64_t least) {
  if (call.arguments.size() != 1)
    throw BadCase("mask '" + call.name + "' needs one number, for example " + call.name + "[64]");
  const int64_t value = parse_size(call.arguments[0]);
  if (value < least)
    throw BadCase("mask " + call.name + "[" + call.arguments[0] + "]: the number must be at least " +
                  std::to_string(least));
  return value;
}

std::string documents_text(const char* name, const Documents& documents) {
  std::string text;
  for (const Document& d : documents) {
    text += (text.empty() ? "" : ",") + std::to_string(d.length);
    if (d.slots != d.length) text += ":" + std::to_string(d.slots);
  }
  return std::string(name) + "[" + text + "]";
}

struct MaskText {
  std::string operator()(const Full&) const { return "full"; }
  std::string operator()(const Causal&) const { return "causal"; }
  std::string operator()(const Window& m) const { return "window[" + std::to_string(m.width) + "]"; }
  std::string operator()(const DocumentCausal& m) const { return documents_text("doc", m.documents); }
  std::string operator()(const DocumentFull& m) const { return documents_text("docfull", m.documents); }
  std::string operator()(const Prefix& m) const { return "prefix[" + std::to_string(m.length) + "]"; }
};

// The arguments after the base: llama3, or llama3,FACTOR,LOW,HIGH,ORIGINAL_LENGTH.
Rope::Llama3 parse_llama3(const Call& call, const std::string& text) {
  const auto& arguments = call.arguments;
  if (arguments[1] != "llama3" || (arguments.size() != 2 && arguments.size() != 6))
    throw BadCase("unknown RoPE scaling in '" + text + "'; known: " + call.name + "[BASE,llama3] and " +
                  call.name + "[BASE,llama3,FACTOR,LOW,HIGH,ORIGINAL_LENGTH]");
  Rope::Llama3 scaling;
  if (arguments.size() == 6)
    scaling = {parse_number(arguments[2]), parse_number(arguments[3]), parse_number(arguments[4]),
               parse_number(arguments[5])};
  if (!(scaling.factor > 0 && scaling.low < scaling.high && scaling.original_length > 0))
    throw BadCase("RoPE scaling in '" + text + "' needs FACTOR > 0, LOW < HIGH, ORIGINAL_LENGTH > 0");
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

MaskKind parse_mask(const std::string& text) {
  const Call call = parse_call(text);
  const bool plain = call.arguments.empty();
  if (call.name == "full" && plain) return Full{};
  if (call.name == "causal" && plain) return Causal{};
  if (call.name == "window") return Window{single_size(call, 1)};
  if (call.name == "prefix") return Prefix{single_size(call, 0)};
  if (call.name == "doc") return DocumentCausal{parse_documents(call)};
  if (call.name == "docfull") return DocumentFull{parse_documents(call)};
  throw BadCase("unknown mask '" + text + "'; known: full, causal, window[W], doc[L1,L2,...], "
                "docfull[L1,L2,...], prefix[N]");
}

std::string mask_text(const MaskKind& mask) { return std::visit(MaskText{}, mask); }

Rope parse_rope(const std::string& text) {
  const Call call = parse_call(text);
  Rope rope;
  if (call.name == "none" && call.arguments.empty()) return rope;
  if (call.name == "half") rope.pairing = Rope::Pairing::kHalf;
  else if (call.name == "interleaved") rope.pairing = Rope::Pairing::kInterleaved;
  else throw BadCase("unknown RoPE '" + text + "'; known: none, half[BASE], interleaved[BASE], "
                     "half[BASE,llama3]");
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

void parse_rotation(const std::string& text, Case& test) {
  const Call call = parse_call(text);
  known_name("rotation", call.name, Rotations::all());
  if (call.arguments.size() > 1 || (call.arguments.size() == 1 && call.arguments[0] != "keep"))
    throw BadCase("rotation '" + text + "': the only option is [keep]");
  test.rotation = call.name;
  test.keep = !call.arguments.empty();
}

void parse_balance(const std::string& text, Case& test) {
  const Call call = parse_call(text);
  known_name("balancer", call.name, Balancers::all());
  const bool takes_block = Balancers::at(call.name).takes_block;
  if (call.arguments.size() > (takes_block ? 1U : 0U))
    throw BadCase("balancer '" + text + "': " + call.name +
                  (takes_block ? " takes one block size" : " takes no parameter"));
  test.balance = call.name;
  test.block = call.arguments.empty() ? 1 : parse_size(call.arguments[0]);
  if (test.block < 1) throw BadCase("balancer '" + text + "': the block size must be at least 1");
}

at::ScalarType parse_dtype(const std::string& text) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf})
    if (dtype_text(type) == text) return type;
  throw BadCase("unknown dtype '" + text + "'; known: float64, float32, bf16, fp16");
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
