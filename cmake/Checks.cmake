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
  ringcheck_core_verify_interface_header_sets ringcheck_reports_verify_interface_header_sets)

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
add_test(NAME claims_test COMMAND ${ci}/claims_test.py)
set_tests_properties(claims claims_age claims_test PROPERTIES
  TIMEOUT 120 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")
set_tests_properties(claims_age PROPERTIES SKIP_RETURN_CODE 77)

# The night's seeds, parts and exit codes, with programs that only pretend.
add_test(NAME nightly_test COMMAND ${ci}/nightly_test.sh)
set_tests_properties(nightly_test PROPERTIES TIMEOUT 120)

# What is installed can be found and used.
set(consumer_flags "")
if(RINGCHECK_SANITIZE)
  set(consumer_flags -fsanitize=${RINGCHECK_SANITIZE})
endif()
add_test(NAME install_consumer COMMAND ${CMAKE_COMMAND}
  -D BUILD_DIR=${PROJECT_BINARY_DIR} -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
  -D FLAGS=${consumer_flags} -D TORCH_PREFIX=${RINGCHECK_TORCH_PREFIX}
  -P ${PROJECT_SOURCE_DIR}/cmake/consumer_test/run.cmake)
set_tests_properties(install_consumer PROPERTIES
  TIMEOUT 300 ENVIRONMENT "${RINGCHECK_TEST_ENVIRONMENT}")

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
