// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reference/cuda/fused_attention.h"
#include "reference/cuda/key_gradients.cuh"
#include "reference/cuda/launch.cuh"
#include "reference/cuda/query_gradient.cuh"

namespace ringcheck::reference {
namespace {

static_assert(sizeof(QueryMemory<128>) <= kMostShared);
static_assert(sizeof(KeyMemory<128>) <= kMostShared);

template <int kDim>
void launch_backward(const Backward& b, cudaStream_t stream) {
  const FusedSizes& n = b.in.sizes;
  const int64_t heads = n.pairs * n.shared;
  const auto blocks = [&](int rows) { return static_cast<unsigned>((n.seq + rows - 1) / rows); };
  launch(query_gradient_kernel<kDim>, dim3(heads, blocks(kQueryRows)), kWarps * kLanes,
         sizeof(QueryMemory<kDim>), stream, b, tile_map(b.in.k, n.pairs, n.seq, kDim),
         tile_map(b.in.v, n.pairs, n.seq, kDim));
  launch(key_gradients_kernel<kDim>, dim3(n.pairs, blocks(kKeyRows)), kWarps * kLanes,
         sizeof(KeyMemory<kDim>), stream, b, tile_map(b.in.q, heads, n.seq, kDim),
         tile_map(b.saved.d_o, heads, n.seq, kDim));
}

}  // namespace

void fused_backward(const FusedInputs& inputs, const FusedSaved& saved,
                    const FusedGradients& gradients, cudaStream_t stream) {
  const Backward b{inputs, saved, gradients, inputs.scale * kLog2e * kParts};
  if (inputs.sizes.dim == 64)
    launch_backward<64>(b, stream);
  else
    launch_backward<128>(b, stream);
}

}  // namespace ringcheck::reference
