// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/regressions.h"

#include <map>

namespace ringcheck::cli {

const std::vector<Regression>& regressions() {
  static const std::vector<Regression> table{
      // The second chunk of a rank is all padding.
      {"NVIDIA/TransformerEngine#2186",
       "ring:p2p/headtail/doc[9:12,8:8,8:8,12:12,8:8,12:12]/P2/hq4/hkv2/d16/bf16"},
      {"NVIDIA/TransformerEngine#2186",
       "ring:allgather/headtail/doc[9:12,8:8,8:8,12:12,8:8,12:12]/P2/hq4/hkv2/d16/float32"},
      // Real keys dropped where the length is no multiple of twice the world.
      {"NVIDIA/TransformerEngine#3331", "ring:alltoall/headtail/doc[698:704]/P4/hq1/hkv1/d16/bf16"},
      {"NVIDIA/TransformerEngine#3331", "ring:p2p/headtail/causal/P4/hq1/hkv1/s698/d16/float32"},
      // Seven tokens treated as six.
      {"NVIDIA/TransformerEngine#1929", "ring:p2p/headtail/doc[7:8]/P2/hq2/hkv2/d16/fp16"},
      {"NVIDIA/TransformerEngine#1930", "ring:alltoall/headtail/causal/P2/hq2/hkv2/s7/d16/bf16"},
      // Documents of unlike length under a contiguous layout.
      {"pytorch/pytorch#189902", "ring:alltoall/contiguous/doc[4,12]/P2/hq2/hkv2/d16/float32"},
      {"pytorch/pytorch#189902", "ring:allgather/headtail/doc[4,12]/P2/hq2/hkv2/d16/bf16"},
      // Positions of later documents taken from the first one.
      {"NVIDIA/Megatron-LM#5243",
       "ring:p2p/headtail/doc[4,4]/P2/hq2/hkv2/d16/bf16/rope:half[10000]"},
      {"NVIDIA/Megatron-LM#5243",
       "ring:alltoall/striped[1]/doc[4,4]/P2/hq2/hkv2/d16/float32/rope:interleaved[10000]"},
      // Attention across the documents of a pack.
      {"axolotl-ai-cloud/axolotl#3608",
       "ring:alltoall/headtail/doc[13,7,29,5,10]/P4/hq4/hkv2/d16/bf16/rope:half[10000]"},
      // Packed lengths that divide by nothing.
      {"NVIDIA/Megatron-LM, packed (THD) sequences",
       "ring:p2p/headtail/doc[17,31,11]/P2/hq4/hkv2/d16/bf16"},
      {"NVIDIA/Megatron-LM, packed (THD) sequences",
       "ring:allgather[keep]/striped[4]/doc[17,31,11]/P4/hq4/hkv2/d16/fp16"},
      // An odd world with random padding.
      {"NVIDIA/TransformerEngine#3489",
       "ring:p2p/headtail/doc[11:16,30:30,23:32,45:48]/P15/hq2/hkv1/d16/bf16"},
      // A long prefix merged with a short rest: 3072 and 64.
      {"sgl-project/sglang#40903", "ring:alltoall/contiguous/causal/P49/hq1/hkv1/s3136/d16/bf16",
       true},
  };
  return table;
}

std::optional<std::string> upstream_issue(const parity::Case& test) {
  static const auto issues = [] {
    std::map<std::string, std::string> by_text;
    for (const Regression& entry : regressions())
      by_text.emplace(parity::to_text(parity::parse_case(entry.text)), entry.issue);
    return by_text;
  }();
  const auto found = issues.find(parity::to_text(test));
  if (found == issues.end())
    return std::nullopt;
  return found->second;
}

}  // namespace ringcheck::cli
