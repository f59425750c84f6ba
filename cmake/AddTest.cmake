# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0

# What programs under test find in their environment, and what starts them.
set(RINGCHECK_TEST_ENVIRONMENT
  OMP_NUM_THREADS=1  # tests run side by side: spinning threads of one would starve the others
  RC_PARAMS=seed=20261121  # the same cases in every run; start a program by hand for new ones
  UBSAN_OPTIONS=print_stacktrace=1
  ASAN_OPTIONS=detect_leaks=0:handle_segv=0  # tests send that signal, and want the program to end by it
  # A test forks a process of several threads and starts new ones in it.
  "TSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/ci/tsan.supp' halt_on_error=1 die_after_fork=0"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1)
set(RINGCHECK_TEST_LAUNCHER "")
set(RINGCHECK_TEST_SECONDS 300)  # for a program; twice that for one under mpirun
if(RINGCHECK_SANITIZE)
  set(RINGCHECK_TEST_SECONDS 1800)
  # Their dlopen looks where their own library says, and not where ours does.
  list(APPEND RINGCHECK_TEST_ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()
math(EXPR RINGCHECK_TEST_MPI_SECONDS "2 * ${RINGCHECK_TEST_SECONDS}")
math(EXPR RINGCHECK_TEST_LONG_SECONDS "3 * ${RINGCHECK_TEST_SECONDS}")
if(RINGCHECK_SANITIZE STREQUAL thread)
  set(RINGCHECK_TEST_LAUNCHER setarch -R)  # older runtimes of it cannot bear much address randomness
endif()

# ringcheck_add_test(<name> SOURCES <file>... [RANKS <n>...])
# One executable. Without RANKS it is one test of its name; with RANKS it runs under mpirun once
# for each number, as <name>_<n>.
function(ringcheck_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;RANKS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ringcheck::options ringcheck_test_support)
  target_compile_options(${name} PRIVATE ${RINGCHECK_LIGHT_OPTIMISATION})
  target_precompile_headers(${name} REUSE_FROM ringcheck_test_support)
  ringcheck_loads_mpi(${name})

  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}_${ranks}
      COMMAND ${RINGCHECK_TEST_LAUNCHER}
        ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}_${ranks} PROPERTIES
      TIMEOUT ${RINGCHECK_TEST_MPI_SECONDS} RUN_SERIAL ON LABELS mpi ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")
  endforeach()
  if(NOT arg_RANKS)
    add_test(NAME ${name} COMMAND ${RINGCHECK_TEST_LAUNCHER} $<TARGET_FILE:${name}>)
    set_tests_properties(${name} PROPERTIES
      TIMEOUT ${RINGCHECK_TEST_SECONDS} ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")
  endif()
endfunction()
