# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks of the repository itself.

# Every public header compiles alone, without precompiled headers. More than a minute, so that only
# the preset asan does it in every build.
option(RINGCHECK_HEADER_CHECKS "Compile each header alone in every build" OFF)
set(all)
if(RINGCHECK_HEADER_CHECKS)
  set(all ALL)
endif()
add_custom_target(header_checks ${all})
add_dependencies(header_checks
  ringcheck_core_verify_interface_header_sets ringcheck_reports_verify_interface_header_sets
  ringcheck_history_verify_interface_header_sets ringcheck_compare_verify_interface_header_sets
  ringcheck_dashboard_verify_interface_header_sets)

# Who may include whom, and whether that check would notice; how long files are; the scripts; whether
# what pages name is there; the edits that ci/mutate.sh makes.
set(ci ${PROJECT_SOURCE_DIR}/ci)
add_test(NAME includes COMMAND ${ci}/check_includes.sh ${PROJECT_SOURCE_DIR} ${RINGCHECK_BOXES_FILE})
add_test(NAME includes_test
  COMMAND ${ci}/check_includes_test.sh ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER})
add_test(NAME sizes COMMAND ${ci}/check_sizes.sh)
add_test(NAME scripts COMMAND ${ci}/check_scripts.sh)
add_test(NAME docs COMMAND ${ci}/check_docs.sh)
add_test(NAME mutation COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
  python3 ${ci}/mutation/test.py)
set_tests_properties(includes includes_test sizes scripts docs mutation PROPERTIES TIMEOUT 120)

# Figures on pages are those of the results that they quote, and old ones say so; the latter needs
# the history (77: it cannot tell).
add_test(NAME claims COMMAND ${ci}/claims.py --program $<TARGET_FILE:ringcheck>)
add_test(NAME claims_age COMMAND ${ci}/claims.py --age)
add_test(NAME claims_test COMMAND ${ci}/pages/claims_test.py)
set_tests_properties(claims claims_age claims_test PROPERTIES
  TIMEOUT 120 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")
set_tests_properties(claims_age PROPERTIES SKIP_RETURN_CODE 77)

# What people see on a terminal: the recorded sessions, and every screen.
add_test(NAME terminal COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/terminal.py --program $<TARGET_FILE:ringcheck>)
add_test(NAME screens_test COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/screens_test.py $<TARGET_FILE:ringcheck>)
set_tests_properties(terminal screens_test PROPERTIES
  TIMEOUT ${RINGCHECK_TEST_SECONDS} ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")

# What the library of GPUs registers is found.
if(RINGCHECK_CUDA)
  add_test(NAME registries COMMAND ${PROJECT_SOURCE_DIR}/cmake/registries_test.sh
    $<TARGET_FILE:ringcheck_core> $<TARGET_FILE:ringcheck_cuda>)
endif()

# Every format that results are written in, read by its readers.
add_test(NAME formats_test COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/formats/readers_test.py)
add_test(NAME markdown_test COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/formats/markdown_test.py)
set_tests_properties(formats_test markdown_test PROPERTIES TIMEOUT ${RINGCHECK_TEST_SECONDS}
  ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT};RINGCHECK_PROGRAM=$<TARGET_FILE:ringcheck>;PYTHONDONTWRITEBYTECODE=1")

# Functions in Python, by the Python of the checks and the torch that the program is linked to.
file(GLOB site $ENV{RINGCHECK_ENV}/lib/python3*/site-packages)
foreach(name IN ITEMS bad_input modules bundle_scripts profile traffic sends held misbehaving launched in_process bugs plugin balance page wheel peers)
  add_test(NAME python_${name}
    COMMAND $ENV{RINGCHECK_TOOLS}/bin/python3 ${PROJECT_SOURCE_DIR}/python/tests/run.py
      ${PROJECT_SOURCE_DIR}/python/tests/${name}_test.py)
  set_tests_properties(python_${name} PROPERTIES TIMEOUT 900
    ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT};RINGCHECK_PROGRAM=$<TARGET_FILE:ringcheck>;RINGCHECK_PYTHON=$ENV{RINGCHECK_TOOLS}/bin/python3;PYTHONPATH=${site};PYTHONDONTWRITEBYTECODE=;PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache")
endforeach()

# A Python that loads a library built with ASan has to have its runtime first, and what throws beside it.
if(RINGCHECK_SANITIZE MATCHES address)
  foreach(name IN ITEMS asan stdc++)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${name}.so
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND asan_runtime "${found}:")
  endforeach()
  set_property(TEST python_in_process python_wheel APPEND PROPERTY ENVIRONMENT LD_PRELOAD=${asan_runtime})
endif()

# The gate, as a newcomer uses it.
add_test(NAME gate_test COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/gate_test.py)
set_tests_properties(gate_test PROPERTIES TIMEOUT ${RINGCHECK_TEST_LONG_SECONDS}
  ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT};RINGCHECK_PROGRAM=$<TARGET_FILE:ringcheck>;PYTHONDONTWRITEBYTECODE=1")

# The templates of CI systems, by linters and published schemas.
add_test(NAME templates_test COMMAND ${ci}/templates_test.py)
set_tests_properties(templates_test PROPERTIES TIMEOUT 120)

# The dashboard in a browser (77: there is none), and how fast it is, which is measured alone.
add_test(NAME dashboard COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/dashboard_test.py $<TARGET_FILE:ringcheck>)
add_test(NAME timeline COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/timeline_test.py $<TARGET_FILE:ringcheck>)
add_test(NAME dashboard_speed COMMAND ${RINGCHECK_TEST_LAUNCHER} ${ci}/dashboard_speed_test.py $<TARGET_FILE:ringcheck>)
set_tests_properties(dashboard_speed PROPERTIES RUN_SERIAL ON)
set_tests_properties(dashboard timeline dashboard_speed PROPERTIES TIMEOUT ${RINGCHECK_TEST_SECONDS}
  SKIP_RETURN_CODE 77 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")

# The page of other people's implementations has the tables of its results.
add_test(NAME subjects_page COMMAND ${ci}/subjects.py --check)

# The night's seeds, parts and exit codes, with programs that only pretend.
add_test(NAME nightly_test COMMAND ${ci}/nightly_test.sh)
set_tests_properties(nightly_test PROPERTIES TIMEOUT 120)

# Tables of speed, and of what is predicted, stand on their pages as the results have them.
add_test(NAME performance COMMAND ${ci}/performance.py --check)
add_test(NAME predictions COMMAND ${ci}/predictions.py --check --program $<TARGET_FILE:ringcheck>)
set_tests_properties(performance predictions PROPERTIES TIMEOUT 120 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")

# The tables' program, with programs that only pretend.
add_test(NAME bench_run_test COMMAND ${PROJECT_SOURCE_DIR}/bench/run_test.sh)
set_tests_properties(bench_run_test PROPERTIES TIMEOUT 120)

# What is installed can be found, moved and used as docs/cpp.md says.
set(consumer_flags -O0)
if(RINGCHECK_SANITIZE)
  set(consumer_flags -fsanitize=${RINGCHECK_SANITIZE})
endif()
add_test(NAME install_consumer COMMAND ${CMAKE_COMMAND}
  -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D BUILD_DIR=${PROJECT_BINARY_DIR} -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
  -D FLAGS=${consumer_flags} -D TORCH_PREFIX=${RINGCHECK_TORCH_PREFIX}
  -P ${PROJECT_SOURCE_DIR}/cmake/consumer_test/run.cmake)
set_tests_properties(install_consumer PROPERTIES
  TIMEOUT 600 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")

# A new member of every family is a new file a side, a part of a case a row. Most of the copy that it
# builds comes from ccache; without, it takes as long as everything.
if(NOT RINGCHECK_SANITIZE)
  add_test(NAME members COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D BUILD_DIR=${PROJECT_BINARY_DIR}
    -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
    -D BUILD_TYPE=${CMAKE_BUILD_TYPE} -D TORCH_PREFIX=${RINGCHECK_TORCH_PREFIX}
    -P ${PROJECT_SOURCE_DIR}/cmake/members_test/run.cmake)
  set_tests_properties(members PROPERTIES
    TIMEOUT 3600 RUN_SERIAL ON ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")
endif()
