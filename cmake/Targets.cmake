# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# How a folder becomes a target.

# An empty source, for folders that have none yet and for precompiled headers.
set(RINGCHECK_EMPTY_SOURCE ${PROJECT_BINARY_DIR}/generated/empty.cpp)
file(CONFIGURE OUTPUT ${RINGCHECK_EMPTY_SOURCE} CONTENT "// Nothing here.\n")

# The heavy headers, compiled once for everything but the tests, which add their own.
set(RINGCHECK_PCH
  <ATen/ATen.h> <nlohmann/json.hpp>
  <algorithm> <functional> <map> <memory> <optional> <string> <variant> <vector>)
add_library(ringcheck_pch OBJECT ${RINGCHECK_EMPTY_SOURCE})
target_link_libraries(ringcheck_pch PRIVATE
  ringcheck::options ringcheck::torch nlohmann_json::nlohmann_json)
target_precompile_headers(ringcheck_pch PRIVATE ${RINGCHECK_PCH})

# Member files, so that a test can assert that every one of them registered.
function(ringcheck_count_members macro)
  file(GLOB members CONFIGURE_DEPENDS ${ARGN})
  list(LENGTH members count)
  set_property(GLOBAL APPEND PROPERTY RINGCHECK_MEMBER_COUNTS ${macro}=${count})
endfunction()

# ringcheck_add_part(<folder> [<library>...]): all sources below the folder as an OBJECT library,
# but for those in a folder named cuda. Self-registering files would be dropped from an archive.
function(ringcheck_add_part name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/cuda/")
  if(NOT sources)
    set(sources ${RINGCHECK_EMPTY_SOURCE})
  endif()
  add_library(ringcheck_${name} OBJECT ${sources})
  target_include_directories(ringcheck_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(ringcheck_${name} PRIVATE
    ringcheck::options ringcheck::torch nlohmann_json::nlohmann_json ${ARGN})
  target_precompile_headers(ringcheck_${name} REUSE_FROM ringcheck_pch)
endfunction()
