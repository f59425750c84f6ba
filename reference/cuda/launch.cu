// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/cuda/launch.cuh"

#include <climits>

#include "reference/cuda/fused_attention.h"

namespace ringcheck::reference {
namespace {

// The driver's function, asked for by name so that nothing links the driver.
auto tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found),
        "cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess)
    throw std::runtime_error("fused attention: the driver has no cuTensorMapEncodeTiled");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

// The copy cuts rows into lines of 16 channels, and puts line after line, each
// with all its rows.
CUtensorMap tile_map(const double* x, int64_t heads, int64_t seq, int64_t dim) {
  constexpr cuuint32_t kLine = 16, kOne = 1;
  const cuuint32_t lines = dim / kLine;
  const cuuint64_t sizes[] = {kLine, cuuint64_t(seq), lines, cuuint64_t(heads)};
  const cuuint64_t strides[] = {dim * sizeof(double), kLine * sizeof(double),
                                seq * dim * sizeof(double)};
  const cuuint32_t box[] = {kLine, kTileRows, lines, kOne}, steps[] = {kOne, kOne, kOne, kOne};
  CUtensorMap map;
  const CUresult result = tensor_map_encoder()(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 4, const_cast<double*>(x), sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error("fused attention: no tensor map for this array: CUDA driver error " +
                             std::to_string(result));
  return map;
}

bool fused_supports(const FusedSizes& n) {
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
    return false;
  const bool dims = n.dim == n.dim_v && (n.dim == 64 || n.dim == 128);
  // The limits of a grid.
  return major == 9 && dims && n.seq <= 64 * 65535 && n.pairs * n.shared <= INT_MAX;
}

}  // namespace ringcheck::reference
