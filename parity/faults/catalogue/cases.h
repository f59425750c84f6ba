// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ringcheck::parity::cases {

// Small cases in which planted bugs show, without their dtype. Every size differs from the others,
// logits are wide, and P is at least 3: at 2, left and right are the same rank. Kernels for 16 bits
// take them: dims are multiples of 8, and no piece of a block is one query with one key. kFull has
// 2^k keys, so that it can hold the data of `snap`.
inline constexpr const char* kCausal = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kRagged = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d16/dv24";
inline constexpr const char* kFull = "ring:p2p/contiguous/full/P4/b2/hq6/hkv3/s32/d16/dv24";
inline constexpr const char* kRaggedFull = "ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s37/d16/dv24";
inline constexpr const char* kContiguous = "ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kWindow = "ring:p2p/contiguous/window[26]/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kDocuments =
    "ring:p2p/headtail/doc[9,7,14,6]/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kPaddedDocuments =
    "ring:p2p/headtail/doc[9:12,8:8,8:10,6:6]/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kPrefix = "ring:p2p/contiguous/prefix[20]/P3/b2/hq4/hkv2/s36/d16/dv24";
inline constexpr const char* kRope =
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/rope:half[10000]";
inline constexpr const char* kRopeDocuments =
    "ring:p2p/headtail/doc[9,7,14,6]/P3/b2/hq4/hkv2/s36/d16/dv24/rope:half[10000]";
inline constexpr const char* kGathered =
    "ring:allgather/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
// The shape at which kernels are calibrated: RMS z and bias are known there.
inline constexpr const char* kCharted = "ring:p2p/headtail/causal/P4/hq4/hkv2/s256/d32";

// The kernels that a wrong D does not reach.
inline constexpr const char* kOwnDelta = "a kernel that computes D itself, from O and dO";

}  // namespace ringcheck::parity::cases
