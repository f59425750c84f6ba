# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# How a folder becomes a target.

# An empty source, for folders that have none yet and for precompiled headers.
set(RINGCHECK_EMPTY_SOURCE ${PROJECT_BINARY_DIR}/generated/empty.cpp)
file(CONFIGURE OUTPUT ${RINGCHECK_EMPTY_SOURCE} CONTENT "// Nothing here.\n")

# The heavy headers, compiled once: for the boxes, for programs, and with more for tests. What nobody
# uses there costs every source half a second.
set(RINGCHECK_PCH
  <ATen/ATen.h> <algorithm> <functional> <map> <memory> <optional> <string> <variant> <vector>)
set(RINGCHECK_PROGRAM_PCH ${RINGCHECK_PCH} <nlohmann/json.hpp>)
add_library(ringcheck_pch OBJECT ${RINGCHECK_EMPTY_SOURCE})
target_precompile_headers(ringcheck_pch PRIVATE ${RINGCHECK_PCH})
add_library(ringcheck_program_pch OBJECT ${RINGCHECK_EMPTY_SOURCE})
target_precompile_headers(ringcheck_program_pch PRIVATE ${RINGCHECK_PROGRAM_PCH})
foreach(target IN ITEMS ringcheck_pch ringcheck_program_pch)
  target_link_libraries(${target} PRIVATE
    ringcheck::options ringcheck::torch nlohmann_json::nlohmann_json)
endforeach()

# The project's folder as a regular expression: whether a file lies in a folder named cuda, mpi or
# main does not depend on where the project lies.
string(REGEX REPLACE "([][+.*()^$?|])" "\\\\\\1" RINGCHECK_ROOT_PATTERN ${PROJECT_SOURCE_DIR})

# Member files, so that a test can assert that every one of them registered. A source with a header
# beside it is shared by members, and none itself.
function(ringcheck_count_members macro)
  file(GLOB members CONFIGURE_DEPENDS ${ARGN})
  set(count 0)
  foreach(member IN LISTS members)
    string(REGEX REPLACE "\\.cpp$" ".h" header ${member})
    if(header STREQUAL member OR NOT EXISTS ${header})
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY RINGCHECK_MEMBER_COUNTS ${macro}=${count})
endfunction()

# The boxes as they are made, a line each: name, its paths, the paths that it may include. For
# ci/check_includes.sh.
set(RINGCHECK_BOXES_FILE ${PROJECT_BINARY_DIR}/boxes.txt)
file(WRITE ${RINGCHECK_BOXES_FILE} "")

# ringcheck_add_box(<name> [PATHS <path>...] [SEES <box>...] [LIBRARIES <library>...])
# One box of the picture in docs/design.md: the sources below its folders, or directly in those that
# end in "/.", but for folders named cuda or mpi, as an OBJECT library (self-registering files would be
# dropped from an archive). Its include path holds links to its own paths, and to those of the boxes
# that it sees and that these see: an include of anything else finds no file.
function(ringcheck_add_box name)
  cmake_parse_arguments(PARSE_ARGV 1 box "" "" "PATHS;SEES;LIBRARIES")
  set(sources "")
  set(visible "")
  foreach(path IN LISTS box_PATHS)
    set(folder ${PROJECT_SOURCE_DIR}/${path})
    if(path MATCHES "/\\.$")
      file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
      file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.h)
      list(APPEND visible ${headers})
    else()
      file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cpp)
      list(APPEND visible ${path})
    endif()
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "^${RINGCHECK_ROOT_PATTERN}/.*/(cuda|mpi)/")
  get_property(taken GLOBAL PROPERTY RINGCHECK_BOX_SOURCES)
  list(REMOVE_ITEM sources ${taken})  # a box within this one, named before it
  set_property(GLOBAL APPEND PROPERTY RINGCHECK_BOX_SOURCES ${sources})
  foreach(seen IN LISTS box_SEES)
    get_property(theirs GLOBAL PROPERTY RINGCHECK_BOX_${seen})
    list(APPEND visible ${theirs})
  endforeach()
  list(REMOVE_DUPLICATES visible)
  set_property(GLOBAL PROPERTY RINGCHECK_BOX_${name} ${visible})
  list(JOIN box_PATHS " " own)
  list(JOIN visible " " seen)
  file(APPEND ${RINGCHECK_BOXES_FILE} "${name}\t${own}\t${seen}\n")
  if(NOT sources)
    return()  # headers alone
  endif()
  set(root ${PROJECT_BINARY_DIR}/boxes/${name})
  ringcheck_link_paths(${root} ${visible})
  add_library(ringcheck_${name} OBJECT ${sources})
  target_include_directories(ringcheck_${name} PRIVATE ${root})
  target_link_libraries(ringcheck_${name} PRIVATE
    ringcheck::options ringcheck::torch nlohmann_json::nlohmann_json ${box_LIBRARIES})
  target_precompile_headers(ringcheck_${name} REUSE_FROM ringcheck_pch)
  set_property(GLOBAL APPEND PROPERTY RINGCHECK_BOXES ${name})
endfunction()

# Links to paths of the project below a folder that holds nothing else.
function(ringcheck_link_paths root)
  file(REMOVE_RECURSE ${root})
  set(paths ${ARGN})
  list(SORT paths)  # a folder before what is in it
  foreach(path IN LISTS paths)
    cmake_path(GET path PARENT_PATH parent)
    if(NOT IS_SYMLINK ${root}/${parent} AND NOT EXISTS ${root}/${path})
      file(MAKE_DIRECTORY ${root}/${parent})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${path} ${root}/${path} SYMBOLIC)
    endif()
  endforeach()
endfunction()
