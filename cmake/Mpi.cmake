# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# libringcheck_mpi.so: everything that links MPI, from the folders named mpi. libringcheck.so loads
# it when a job asks for MPI, so what may ask depends on it, by ringcheck_loads_mpi(<program>).

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cp/*.cpp)
list(FILTER sources INCLUDE REGEX "^${RINGCHECK_ROOT_PATTERN}/.*/mpi/")
add_library(ringcheck_mpi SHARED ${sources})
target_link_libraries(ringcheck_mpi PRIVATE
  ringcheck::options ringcheck::ringcheck ringcheck::mpi)

# Built before the program is linked; its sources need not wait for it.
function(ringcheck_loads_mpi program)
  set_property(TARGET ${program} APPEND PROPERTY
    LINK_DEPENDS $<TARGET_LINKER_FILE:ringcheck_mpi>)
endfunction()
