// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/faults/self_test/self_test.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kMasks[] = {"full", "causal", "window[5]", "doc[3,17:20,27]", "docfull[8,42]", "prefix[7]"};
constexpr int64_t kQueryHeads = 24, kKeyHeads = 12;

// A strategy, and into how many parts for each rank it deals the key-value heads; 0: it deals none.
struct Dealing {
  const char* strategy;
  int64_t groups;
};
constexpr Dealing kDealings[] = {{"ring:p2p", 0}, {"ring:alltoall", 0}, {"ring:allgather", 0}, {"ring:allgather[keep]", 0},
                                 {"gathered", 0}, {"ulysses", 1}, {"ulysses[2]", 2}};

struct Channels {
  int64_t dim, dim_v;
};

// Whether a kernel computes values of so many channels beside keys of so many.
bool takes(const std::string& kernel, const Channels& channels) { return kernel == "plain" || channels.dim == channels.dim_v; }

// Of cases of a mask, every world, balancer and dtype, the first that is refused by mistake, or is not refused; nothing where there is none.
std::string mistaken(const std::string& kernel, const Dealing& dealing, const Channels& channels, const std::string& mask) {
  for (const int64_t world : {1, 2, 3, 4, 5, 8})
    for (const char* balance : {"contiguous", "headtail", "striped[3]"}) {
      Case test = parse_case(c10::str(dealing.strategy, "/", balance, "/", kernel, "/", mask, "/P", world, "/hq", kQueryHeads, "/hkv", kKeyHeads,
                                      "/s50/d", channels.dim, "/dv", channels.dim_v));
      const bool dealt = dealing.groups == 0 || kKeyHeads % (world * dealing.groups) == 0;
      for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
        test.dtype = dtype;
        const auto refused = ours()->refuses(test);
        if (refused.has_value() == (dealt && takes(kernel, channels)))
          return to_text(test) + (refused ? " is refused: " + *refused : " is not refused");
      }
    }
  return "";
}

}  // namespace

void examine_refusals(SelfTest& result) {
  for (const char* kernel : {"plain", "flash"})
    for (const Dealing& dealing : kDealings)
      for (const Channels& channels : {Channels{8, 8}, {15, 15}, {8, 12}, {192, 128}})
        for (const char* mask : kMasks) {
          const std::string wrong = mistaken(kernel, dealing, channels, mask);
          result.demand(wrong.empty(), wrong);
        }
}

}  // namespace ringcheck::parity
