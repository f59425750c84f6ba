# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# libringcheck_cuda.so: everything that links CUDA, from the folders named cuda. libringcheck.so
# loads it when a GPU is asked for.

if(NOT RINGCHECK_CUDA)
  return()
endif()

foreach(library IN ITEMS torch_cuda c10_cuda)
  find_library(RINGCHECK_${library}_LIBRARY ${library} REQUIRED)
  mark_as_advanced(RINGCHECK_${library}_LIBRARY)
endforeach()
find_package(CUDAToolkit REQUIRED)

# NCCL, as it comes with LibTorch or with the system.
cmake_path(GET RINGCHECK_torch_cuda_LIBRARY PARENT_PATH libraries)
set(wheels ${libraries}/../../nvidia)
find_path(RINGCHECK_NCCL_INCLUDE_DIR nccl.h PATHS ${wheels}/nccl/include REQUIRED)
find_file(RINGCHECK_NCCL_LIBRARY libnccl.so.2 PATHS ${wheels}/nccl/lib /usr/lib/x86_64-linux-gnu REQUIRED)
mark_as_advanced(RINGCHECK_NCCL_INCLUDE_DIR RINGCHECK_NCCL_LIBRARY)

# cuDNN, likewise, with the headers of its frontend.
find_path(RINGCHECK_CUDNN_INCLUDE_DIR cudnn.h PATHS ${wheels}/cudnn/include REQUIRED)
find_path(RINGCHECK_CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h
  PATHS ${libraries}/../../include REQUIRED)
find_file(RINGCHECK_CUDNN_LIBRARY libcudnn.so.9 PATHS ${wheels}/cudnn/lib /usr/lib/x86_64-linux-gnu REQUIRED)
mark_as_advanced(RINGCHECK_CUDNN_INCLUDE_DIR RINGCHECK_CUDNN_FRONTEND_INCLUDE_DIR
  RINGCHECK_CUDNN_LIBRARY)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/cp/*.cpp ${PROJECT_SOURCE_DIR}/cp/*.cu
  ${PROJECT_SOURCE_DIR}/kernels/*.cpp ${PROJECT_SOURCE_DIR}/kernels/*.cu
  ${PROJECT_SOURCE_DIR}/parity/*.cpp ${PROJECT_SOURCE_DIR}/parity/*.cu
  ${PROJECT_SOURCE_DIR}/reference/*.cpp ${PROJECT_SOURCE_DIR}/reference/*.cu)
list(FILTER sources INCLUDE REGEX "^${RINGCHECK_ROOT_PATTERN}/.*/cuda/")
add_library(ringcheck_cuda SHARED ${sources})
target_link_libraries(ringcheck_cuda PRIVATE
  ringcheck::options ringcheck::ringcheck ringcheck::random123 nlohmann_json::nlohmann_json CUDA::cudart
  CUDA::nvrtc ${RINGCHECK_NCCL_LIBRARY} ${RINGCHECK_CUDNN_LIBRARY}
  ${RINGCHECK_torch_cuda_LIBRARY} ${RINGCHECK_c10_cuda_LIBRARY})
target_include_directories(ringcheck_cuda SYSTEM PRIVATE ${RINGCHECK_NCCL_INCLUDE_DIR}
  ${RINGCHECK_CUDNN_INCLUDE_DIR} ${RINGCHECK_CUDNN_FRONTEND_INCLUDE_DIR})
target_compile_options(ringcheck_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-lineinfo;-Xcompiler=-fPIC>)
set_target_properties(ringcheck_cuda PROPERTIES CUDA_STANDARD 20 LINKER_LANGUAGE CXX)
# It calls cuDNN's frontend, whose headers are large.
set_source_files_properties(${PROJECT_SOURCE_DIR}/kernels/cuda/cudnn_graph.cpp PROPERTIES
  COMPILE_OPTIONS "${RINGCHECK_LIGHT_OPTIMISATION}")
# Merge, RoPE and inputs round as they are written, like the host's.
set_source_files_properties(${PROJECT_SOURCE_DIR}/kernels/cuda/fused.cu
  ${PROJECT_SOURCE_DIR}/parity/case/cuda/numbers.cu PROPERTIES COMPILE_OPTIONS --fmad=false)
