// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/peer_copy.h"

#include <ATen/ATen.h>
#include <ATen/cuda/PeerToPeerAccess.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "cp/worlds/cuda/copy_pieces.h"

namespace ringcheck {
namespace {

bool peer_copy(const at::Tensor& to, const at::Tensor& from, bool in_pieces) {
  const c10::DeviceIndex here = from.device().index(), there = to.device().index();
  if (!at::cuda::get_p2p_access(here, there)) return false;
  const c10::cuda::CUDAGuard device(here);
  copy_pieces(to.mutable_data_ptr(), pieces_of(to, in_pieces), from.const_data_ptr(), pieces_of(from, in_pieces),
              c10::cuda::getCurrentCUDAStream(here).stream());
  return true;
}

const PeerCopies::Add registered{"cuda", peer_copy};

}  // namespace
}  // namespace ringcheck
