// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ringcheck::parity::cases {

// Small cases in which planted bugs show, without their dtype. Every size differs from the others,
// logits are wide, and P is at least 3: at 2, left and right are the same rank.
inline constexpr const char* kCausal = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kRagged = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12";
inline constexpr const char* kFull = "ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kRaggedFull = "ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s37/d8/dv12";
inline constexpr const char* kContiguous = "ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kWindow = "ring:p2p/contiguous/window[15]/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kDocuments =
    "ring:p2p/headtail/doc[9,8,13,6]/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kPaddedDocuments =
    "ring:p2p/headtail/doc[9:12,8:8,8:10,6:6]/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kPrefix = "ring:p2p/contiguous/prefix[20]/P3/b2/hq4/hkv2/s36/d8/dv12";
inline constexpr const char* kRope =
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d8/dv12/rope:half[10000]";
inline constexpr const char* kRopeDocuments =
    "ring:p2p/headtail/doc[9,8,13,6]/P3/b2/hq4/hkv2/s36/d8/dv12/rope:half[10000]";
inline constexpr const char* kGathered =
    "ring:allgather/headtail/causal/P3/b2/hq4/hkv2/s36/d8/dv12";
// The shape at which kernels are calibrated: RMS z and bias are known there.
inline constexpr const char* kCharted = "ring:p2p/headtail/causal/P4/hq4/hkv2/s256/d32";

}  // namespace ringcheck::parity::cases
