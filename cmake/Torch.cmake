# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ringcheck::torch: the CPU half of LibTorch, so that starting a program does not load the CUDA
# libraries. Found under CMAKE_PREFIX_PATH; also included by an installed RingCheckConfig.cmake.
# at::parallel_for is a template: without -fopenmp it would silently be serial. It uses LibTorch's
# own OpenMP runtime; a second one is never loaded. (Under the thread sanitizer it is serial, as that
# runtime is not instrumented.)

if(NOT TARGET ringcheck::torch)
  find_path(RINGCHECK_TORCH_INCLUDE_DIR ATen/ATen.h REQUIRED)
  find_library(RINGCHECK_TORCH_CPU_LIBRARY torch_cpu REQUIRED)
  find_library(RINGCHECK_C10_LIBRARY c10 REQUIRED)
  cmake_path(GET RINGCHECK_C10_LIBRARY PARENT_PATH libraries)
  cmake_path(GET libraries PARENT_PATH RINGCHECK_TORCH_PREFIX)
  find_file(RINGCHECK_GOMP_LIBRARY libgomp.so.1 PATHS ${libraries} NO_DEFAULT_PATH REQUIRED)
  mark_as_advanced(RINGCHECK_TORCH_INCLUDE_DIR RINGCHECK_TORCH_CPU_LIBRARY RINGCHECK_C10_LIBRARY
    RINGCHECK_GOMP_LIBRARY)

  set(openmp -fopenmp)
  if(RINGCHECK_SANITIZE STREQUAL thread)
    set(openmp "")
  endif()

  add_library(ringcheck::torch INTERFACE IMPORTED GLOBAL)
  set_target_properties(ringcheck::torch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES
      "${RINGCHECK_TORCH_INCLUDE_DIR};${RINGCHECK_TORCH_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:${openmp}>"
    INTERFACE_LINK_LIBRARIES
      "${RINGCHECK_TORCH_CPU_LIBRARY};${RINGCHECK_C10_LIBRARY};${RINGCHECK_GOMP_LIBRARY}")
endif()
