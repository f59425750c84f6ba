# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Everything that is not ours. The system's packages are used where they exist; the network is only
# the fallback.

# LibTorch's package, which insists on CUDA, enables that language; this is the one place that names
# architectures. Its warnings (parts of the wheel that we do not link) would hide ours.
if(RINGCHECK_CUDA)
  set(TORCH_CUDA_ARCH_LIST "8.0+PTX;9.0a")
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  find_package(Torch REQUIRED)
  unset(CMAKE_MESSAGE_LOG_LEVEL)
else()
  set(CMAKE_CUDA_COMPILER_VERSION "none: RINGCHECK_CUDA is OFF, no GPU will be usable")
endif()
include(Torch)
message(STATUS "LibTorch: ${RINGCHECK_TORCH_PREFIX}; CUDA compiler: ${CMAKE_CUDA_COMPILER_VERSION}")

# MPI's C interface; Open MPI's and MPICH's old C++ bindings stay out.
find_package(MPI REQUIRED COMPONENTS C)
add_library(ringcheck_mpi_interface INTERFACE)
add_library(ringcheck::mpi ALIAS ringcheck_mpi_interface)
target_link_libraries(ringcheck_mpi_interface INTERFACE MPI::MPI_C)
target_compile_definitions(ringcheck_mpi_interface INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
if(NOT TARGET SQLite3::SQLite3)  # before CMake 4.3
  add_library(SQLite3::SQLite3 ALIAS SQLite::SQLite3)
endif()
find_package(ZLIB REQUIRED)

# The charts of the dashboard: Debian's node-d3.
find_file(RINGCHECK_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist REQUIRED)
find_file(RINGCHECK_D3_LICENCE copyright PATHS /usr/share/doc/node-d3 REQUIRED)
mark_as_advanced(RINGCHECK_D3 RINGCHECK_D3_LICENCE)

include(FetchContent)
FetchContent_Declare(nlohmann_json  # v3.11.3
  GIT_REPOSITORY https://github.com/nlohmann/json.git
  GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03
  FIND_PACKAGE_ARGS)
FetchContent_Declare(CLI11  # v2.4.2
  GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git
  GIT_TAG 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9
  FIND_PACKAGE_ARGS)
FetchContent_MakeAvailable(nlohmann_json CLI11)

# ringcheck_find_headers(<target> <header> [<library>...]): packages that bring no CMake files.
function(ringcheck_find_headers target header)
  find_path(RINGCHECK_${target}_INCLUDE_DIR ${header} REQUIRED)
  mark_as_advanced(RINGCHECK_${target}_INCLUDE_DIR)
  add_library(ringcheck::${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(ringcheck::${target} INTERFACE ${RINGCHECK_${target}_INCLUDE_DIR})
  foreach(library IN LISTS ARGN)
    find_library(RINGCHECK_${library}_LIBRARY ${library} REQUIRED)
    mark_as_advanced(RINGCHECK_${library}_LIBRARY)
    target_link_libraries(ringcheck::${target} INTERFACE ${RINGCHECK_${library}_LIBRARY})
  endforeach()
endfunction()
ringcheck_find_headers(random123 Random123/philox.h)
ringcheck_find_headers(boost boost/process/child.hpp)

# Tests and benchmarks alone need these.
if(BUILD_TESTING)
  set(RC_ENABLE_GTEST ON)
  set(BENCHMARK_ENABLE_TESTING OFF)
  FetchContent_Declare(GTest  # v1.14.0
    GIT_REPOSITORY https://github.com/google/googletest.git
    GIT_TAG f8d7d77c06936315286eb55f8de22cd23c188571
    FIND_PACKAGE_ARGS)
  FetchContent_Declare(benchmark  # v1.8.3
    GIT_REPOSITORY https://github.com/google/benchmark.git
    GIT_TAG 344117638c8ff7e239044fd0fa7085839fc03021
    FIND_PACKAGE_ARGS)
  FetchContent_Declare(rapidcheck  # has no releases
    GIT_REPOSITORY https://github.com/emil-e/rapidcheck.git
    GIT_TAG ff6af6fc683159deb51c543b065eba14dfcf329b
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(GTest benchmark rapidcheck)
  ringcheck_find_headers(mpfr mpfr.h mpfr gmp)
  # libFuzzer without a main, from the package of clang's runtimes.
  file(GLOB runtimes /usr/lib/llvm-*/lib/clang/*/lib/linux /usr/lib/clang/*/lib/linux)
  find_library(RINGCHECK_LIBFUZZER libclang_rt.fuzzer_no_main-${CMAKE_SYSTEM_PROCESSOR}.a REQUIRED
    PATHS ${runtimes} NO_DEFAULT_PATH)
  mark_as_advanced(RINGCHECK_LIBFUZZER)
endif()
