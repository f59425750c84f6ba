// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/fixed_cases.h"

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "parity/case/regressions.h"
#include "parity/judge/judging.h"
#include "parity/subject/contract.h"
#include "parity/subject/ours.h"

namespace ringcheck::cli {
namespace {

using parity::Case;
using Cases = std::vector<Case>;

void append(Cases& cases, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    cases.push_back(parity::parse_case(text));
}

// Moves cases to the device; a kernel that is not there is replaced.
Cases moved(Cases cases, const std::string& device) {
  for (Case& test : cases) {
    test.device = device;
    if (parity::not_supported(test))
      test.kernel = plainest_kernel(parity::device_type_of(test));
  }
  return cases;
}

void append_regressions(Cases& cases, bool large) {
  for (const parity::Regression& entry : parity::regressions())
    if (large || !entry.large)
      append(cases, {entry.text});
}

// Shards of a slot less or more than the tiles of kernels, where there is a rest and more than one tile. The edge of
// a window is in the other rank's block for eight rows, since a library may be called for each of them, and
// in the own one; the narrower leaves a tile of the other rank's keys that nobody sees. What is wrong from the second tile on may
// be so of some batch entries, heads or groups alone: on the CPU, where a tile is that of every kernel, they take turns.
void append_tile_edges(Cases& cases, const std::string& device) {
  constexpr std::array kHeads{"b2/hq4/hkv2/d64", "b3/hq8/hkv1/d64", "b1/hq9/hkv9/d64"};
  constexpr size_t kTaken = 3;  // of three one, so that all dtypes come in turn
  Case probe;
  probe.device = device;
  for (const std::string& kernel : kernels_on(parity::device_type_of(probe))) {
    Cases own;
    for (const char* shape : {"causal/s254", "causal/s258", "causal/s514", "full/s258", "full/s514", "window[250]/s258",
                              "window[100]/s514"})
      for (const char* dtype : {"float64", "bf16", "float32", "fp16"}) {
        const std::string heads = kHeads[own.size() / kTaken % kHeads.size()];
        Case test = parity::parse_case("ring:p2p/contiguous/P2/" + heads + "/" + shape + "/" + dtype);
        test.device = device;
        test.kernel = kernel;
        if (!parity::not_supported(test))
          own.push_back(test);
      }
    for (size_t i = 0; i < own.size(); i += kTaken) cases.push_back(own[i]);
  }
}

// The shapes at which a kernel's contract says what RMS z and bias must be.
void append_calibrated(Cases& cases, const std::string& device) {
  for (const auto& [kernel, unused] : AttentionKernels::all()) {
    const nlohmann::json contract = parity::contract_json(kernel);
    for (const auto& [text, chart] : contract.at("charts").items()) {
      Case test = parity::parse_case(text);
      test.seed = 1;
      if (test.device == device)
        cases.push_back(test);
    }
  }
}

// RoPE where positions no longer fit into 15 or 16 bits, of one head.
const std::vector<std::string> kLongPositions{
    "ring:p2p/contiguous/window[2]/P2/hq1/hkv1/s66000/d4/float32/rope:interleaved[10000]",
    "ring:alltoall/headtail/window[3]/P3/hq1/hkv1/s33000/d4/bf16/rope:half[10000]",
    "ring:allgather/striped[16]/doc[2100,30:31,2120]/P4/hq1/hkv1/d4/fp16/rope:interleaved[10000]",
    "ring:p2p/headtail/window[5]/P2/hq1/hkv1/s2300/d8/bf16/rope:interleaved[10000]",
    "ring:allgather[keep]/contiguous/window[3]/P5/hq2/hkv1/s2200/d4/float32/rope:half[500000]",
    "ring:alltoall/striped[1]/window[2]/P2/hq1/hkv1/s2111/d6/fp16/rope:half[10000]",
    "ring:p2p/striped[3]/window[4]/P3/hq2/hkv2/s9000/d8/float64/rope:half[500000,llama3]"};

// What meets seldom: tiles behind the first one, or ranks with hundreds of tokens, beside many heads or batch entries, other masks,
// scales and strategies; a scale of 0 under a kernel of a library; two tokens a rank, a stride apart; windows of more than a
// thousand tokens, and of one token more or less than a block.
const std::vector<std::string> kSeldomTogether{
    "ring:p2p/contiguous/causal/P2/hq8/hkv1/s258/d16/float32",
    "ring:p2p/contiguous/causal/P2/b3/hq2/hkv1/s258/d16/float32",
    "ring:p2p/contiguous/causal/P2/hq9/hkv9/s258/d8/float32",
    "ring:p2p/contiguous/prefix[150]/P2/hq2/hkv1/s258/d16/dv12/float32",
    "ring:p2p/contiguous/docfull[200,58]/P2/hq2/hkv1/d8/float32/scale:-0.25",
    "ring:p2p/contiguous/flash/causal/P2/hq2/hkv2/s16/d8/float32/scale:0",
    "gathered/contiguous/causal/P2/hq2/hkv2/s258/d8/float32",
    "ulysses/contiguous/causal/P2/b5/hq2/hkv2/s514/d8/float32",
    "ulysses/striped[1]/causal/P4/hq4/hkv4/s8/d8/float32",
    "ring:p2p/contiguous/window[1100]/P2/hq1/hkv1/s1200/d4/float32",
    "ring:p2p/contiguous/flash/window[49]/P2/hq1/hkv1/s100/d8/float32",
    "ring:alltoall/headtail/flash/window[34]/P2/hq2/hkv1/s66/d8/bf16"};

// More groups than strategies name for lists, or take by themselves: a third one and later ones.
const std::vector<std::string> kManyGroups{
    "gathered[6]/headtail/causal/P3/b2/hq12/hkv6/s37/d8/bf16",
    "ulysses[4]/headtail/causal/P2/b2/hq8/hkv8/s37/d8/float32"};

// More of them than smoke has time for.
const std::vector<std::string> kMoreLongPositions{
    "ring:p2p/contiguous/window[2]/P2/hq1/hkv1/s100352/d4/float32/rope:interleaved[10000]",
    "ring:alltoall/contiguous/window[3]/P3/hq1/hkv1/s100500/d6/bf16/rope:half[10000]",
    "ring:allgather/striped[16]/window[2]/P4/hq1/hkv1/s131101/d4/fp16/rope:interleaved[500000]",
    "ring:p2p/headtail/flash/window[2]/P2/hq1/hkv1/s33001/d8/float32/rope:half[10000]",
    "ring:allgather[keep]/striped[1]/window[3]/P2/hq1/hkv1/s33333/d4/float64/"
    "rope:interleaved[10000]",
    "ring:p2p/contiguous/window[7]/P8/hq2/hkv1/s2700/d8/bf16/rope:half[500000,llama3]",
    "ring:alltoall/headtail/flash/window[64]/P2/hq1/hkv1/s2500/d16/fp16/rope:half[10000]",
    "ring:allgather/striped[3]/docfull[2300:2310,200]/P3/hq1/hkv1/d4/bf16/rope:half[10000]",
    "ring:p2p/headtail/doc[60,2400,0:7,90:95]/P7/hq2/hkv2/d8/float32/rope:half[10000]",
    "ring:allgather[keep]/striped[16]/window[9]/P4/hq1/hkv1/s2201/d12/float64/"
    "rope:interleaved[10000]",
    "ring:alltoall/contiguous/flash/window[30]/P3/hq3/hkv1/s2400/d8/fp16/rope:interleaved[500000]",
    "ring:p2p/striped[1]/doc[2200,100:107,2100]/P5/hq1/hkv1/d6/bf16/rope:interleaved[10000]",
    "ring:allgather/headtail/window[2]/P8/hq2/hkv1/s4111/d4/bf16/rope:interleaved[100,llama3]",
    "ring:alltoall/striped[3]/window[5]/P2/hq1/hkv1/s2077/d8/float32/rope:interleaved[10000]"};

void append_lists(std::vector<std::string>& texts) {
  for (const auto* list : {&kManyGroups, &kSeldomTogether})
    texts.insert(texts.end(), list->begin(), list->end());
}

// What stands in a profile whatever is drawn.
Cases of_every_profile(const std::string& device, bool large,
                       const std::vector<std::string>& texts) {
  Cases cases;
  append_regressions(cases, large);
  append_tile_edges(cases, device);
  append(cases, texts);
  cases = moved(std::move(cases), device);
  append_calibrated(cases, device);
  return cases;
}

}  // namespace

Cases fixed_cases_of_smoke(const std::string& device) {
  std::vector<std::string> texts{
      "ring:alltoall/headtail/causal/P4/hq2/hkv1/s1024/d64/bf16/rope:half[10000]",
      "ring:p2p/striped[16]/window[100]/P8/hq2/hkv1/s1000/d32/fp16",
      "ring:allgather/contiguous/full/P3/hq1/hkv1/s1021/d32/float32",
      "ring:alltoall/headtail/flash/full/P2/hq2/hkv2/s1024/d64/bf16",
      "ring:p2p/headtail/docfull[2,4,8]/P2/hq2/hkv1/d16/bf16/snap",  // queries that see unlike numbers of keys
      "gathered/striped[1]/causal/P3/hq2/hkv1/s13/d8/float32"};  // every third query beside all keys
  texts.insert(texts.end(), kLongPositions.begin(), kLongPositions.end());
  append_lists(texts);
  return of_every_profile(device, false, texts);
}

Cases fixed_cases_of_conformance(const std::string& device) {
  std::vector<std::string> texts = kLongPositions;
  texts.insert(texts.end(), kMoreLongPositions.begin(), kMoreLongPositions.end());
  append_lists(texts);
  return of_every_profile(device, true, texts);
}

Cases fixed_cases_of_stress(const std::string& device) {
  Cases cases;
  append(cases, {"ring:alltoall/headtail/causal/P8/hq2/hkv1/s4K/d128/bf16/rope:half[500000,llama3]",
                 "ring:p2p/striped[16]/causal/P16/hq1/hkv1/s4K/d64/float32",
                 "ring:allgather[keep]/headtail/window[1024]/P7/hq2/hkv1/s5000/d64/fp16"});
  return moved(std::move(cases), device);
}

Cases relations_beyond_a_tile() {
  constexpr uint64_t kSeeds = 400;
  Cases cases;
  std::set<std::string> drawn;
  for (const char* text : {"ring:p2p/contiguous/causal/P2/hq2/hkv1/s300/d4/float32",
                           "ring:alltoall/headtail/full/P3/hq1/hkv1/s430/d4/float64/scale:0.3"})
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Case test = parity::parse_case(text);
      test.seed = seed;
      const size_t before = drawn.size();
      for (const std::string& name : parity::drawn_oracles(test, *parity::ours())) drawn.insert(name);
      if (drawn.size() > before) cases.push_back(test);
    }
  return cases;
}

}  // namespace ringcheck::cli
