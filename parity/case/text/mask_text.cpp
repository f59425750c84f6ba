// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
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
  throw BadCase(unknown_name("mask", text, {"full", "causal", "window[W]", "doc[L1,L2,...]",
                                            "docfull[L1,L2,...]", "prefix[N]"}));
}

std::string mask_text(const MaskKind& mask) { return std::visit(MaskText{}, mask); }

}  // namespace ringcheck::parity
