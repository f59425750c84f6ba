# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ringcheck::options: how every target of ours is compiled. No fast-math, no contraction: the two
# sides of a comparison must round as they are written.

option(RINGCHECK_WERROR "Treat warnings as errors" OFF)
# CMakePresets.json leaves it empty where the environment does not say.
if("${RINGCHECK_CUDA}" STREQUAL "")
  include(CheckLanguage)
  check_language(CUDA)
  set(RINGCHECK_CUDA OFF)
  if(CMAKE_CUDA_COMPILER)
    set(RINGCHECK_CUDA ON)
  endif()
  set(RINGCHECK_CUDA ${RINGCHECK_CUDA} CACHE BOOL "Build libringcheck_cuda.so" FORCE)
endif()
set(RINGCHECK_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)  # programs too, so that they share precompiled headers
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "" FORCE)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH $ORIGIN $ORIGIN/../lib)
set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/../lib)

# For what calls and prints, and computes nothing: a quarter less time to compile.
set(RINGCHECK_LIGHT_OPTIMISATION $<$<CONFIG:Release>:-O1>)

find_program(CCACHE_PROGRAM ccache)
find_program(LLD_PROGRAM ld.lld)
mark_as_advanced(CCACHE_PROGRAM LLD_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(ringcheck_options INTERFACE)
add_library(ringcheck::options ALIAS ringcheck_options)
target_compile_features(ringcheck_options INTERFACE cxx_std_20)
target_compile_options(ringcheck_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-semantic-interposition;-Wall;-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${RINGCHECK_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
if(LLD_PROGRAM)
  target_link_options(ringcheck_options INTERFACE $<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()
if(RINGCHECK_SANITIZE)
  target_compile_options(ringcheck_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RINGCHECK_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1>)
  target_link_options(ringcheck_options INTERFACE -fsanitize=${RINGCHECK_SANITIZE})
endif()
