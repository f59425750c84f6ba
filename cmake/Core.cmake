# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# libringcheck.so: reference, cp, kernels and parity in one shared library, from their objects, so
# that no self-registering file is dropped and every program links in a second.

add_library(ringcheck_core SHARED)
add_library(ringcheck::ringcheck ALIAS ringcheck_core)
set_target_properties(ringcheck_core PROPERTIES
  OUTPUT_NAME ringcheck EXPORT_NAME ringcheck
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINKER_LANGUAGE CXX VERIFY_INTERFACE_HEADER_SETS ON)
target_compile_features(ringcheck_core PUBLIC cxx_std_20)
target_link_libraries(ringcheck_core
  PUBLIC ringcheck::torch
  PRIVATE ringcheck::options Threads::Threads ringcheck_version)
target_link_options(ringcheck_core PRIVATE LINKER:-z,defs)

get_property(boxes GLOBAL PROPERTY RINGCHECK_BOXES)
foreach(box IN LISTS boxes)
  target_sources(ringcheck_core PRIVATE $<TARGET_OBJECTS:ringcheck_${box}>)
endforeach()
foreach(part IN ITEMS reference cp kernels parity)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${part}/*.h)
  list(FILTER headers EXCLUDE REGEX "^${RINGCHECK_ROOT_PATTERN}/.*/mpi/")  # need MPI's
  list(APPEND RINGCHECK_HEADERS ${headers})
endforeach()
target_sources(ringcheck_core PUBLIC
  FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${RINGCHECK_HEADERS})
