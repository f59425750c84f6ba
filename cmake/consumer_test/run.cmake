# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Script: installs BUILD_DIR into a fresh folder, and builds and runs what docs/cpp.md tells its readers
# to write; moves the folder, and does it again.

set(scratch ${BUILD_DIR}/consumer_test)
set(project ${scratch}/project)
file(REMOVE_RECURSE ${scratch})
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
  python3 ${SOURCE_DIR}/cmake/consumer_test/page.py ${SOURCE_DIR}/docs/cpp.md ${project})
execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
  COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${scratch}/prefix)

# What the page says is in it, and no library or program that knows a folder of this machine.
foreach(path IN ITEMS bin/ringcheck include/ringcheck/cp/attention/by_name.h include/ringcheck.h
    lib/libringcheck.so
    lib/libringcheck_mpi.so lib/libringcheck_command.so share/doc/RingCheck/LICENSE share/doc/RingCheck/docs/cpp.md
    share/doc/RingCheck/reports/result.schema.json)
  if(NOT EXISTS ${scratch}/prefix/${path})
    message(FATAL_ERROR "the installed prefix has no ${path}")
  endif()
endforeach()
file(GLOB binaries ${scratch}/prefix/lib/*.so ${scratch}/prefix/lib/ringcheck/bin/*)
foreach(binary IN LISTS binaries)
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE dynamic
    COMMAND readelf -d ${binary})
  string(REGEX MATCH "R(UN)?PATH[^[]*\\[[^]]*\\]" runpath "${dynamic}")
  if(NOT runpath MATCHES "ORIGIN" OR runpath MATCHES "[[:]/")
    message(FATAL_ERROR "${binary} looks for libraries in a folder of this machine: ${runpath}")
  endif()
endforeach()

function(build_and_run prefix)
  file(REMOVE_RECURSE ${project}/build)
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
    COMMAND ${CMAKE_COMMAND} -S ${project} -B ${project}/build -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS}
      -D RingCheck_ROOT=${prefix} -D CMAKE_PREFIX_PATH=${TORCH_PREFIX})
  execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND ${CMAKE_COMMAND} --build ${project}/build)
  execute_process(COMMAND_ERROR_IS_FATAL ANY WORKING_DIRECTORY ${project}
    COMMAND sh run.sh)
  execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND ${CMAKE_COMMAND} -E env RINGCHECK_TORCH=${TORCH_PREFIX}
      ${prefix}/bin/ringcheck verify --case ring:p2p/P2/s32/float32)
endfunction()

# What docs/plugins.md says: the example is built against one header, and is right; with a wrong factor
# in its gradient it is not.
function(build_plugin source wanted)
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
    COMMAND ${CMAKE_COMMAND} -S ${source} -B ${source}/build -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_PREFIX_PATH=${scratch}/prefix;${TORCH_PREFIX}")
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
    COMMAND ${CMAKE_COMMAND} --build ${source}/build)
  execute_process(RESULT_VARIABLE code
    COMMAND ${CMAKE_COMMAND} -E env RINGCHECK_TORCH=${TORCH_PREFIX} ${scratch}/prefix/bin/ringcheck
      verify --case subject:plugin[${source}/build/gathered.so]/causal/P4/s256/float32)
  if(NOT code EQUAL wanted)
    message(FATAL_ERROR "the plug-in of ${source} ended with ${code}, expected ${wanted}")
  endif()
endfunction()
set(example ${scratch}/prefix/share/doc/RingCheck/examples/plugin)
file(COPY ${example}/ DESTINATION ${scratch}/right/plugin)
file(COPY ${example}/ DESTINATION ${scratch}/wrong/plugin)
file(READ ${scratch}/wrong/plugin/gathered.cpp text)
string(REPLACE "const double ds = c.scale * p" "const double ds = 0.97 * c.scale * p" spoilt "${text}")
if(spoilt STREQUAL text)
  message(FATAL_ERROR "gathered.cpp has no line to spoil")
endif()
file(WRITE ${scratch}/wrong/plugin/gathered.cpp "${spoilt}")
build_plugin(${scratch}/right/plugin 0)
build_plugin(${scratch}/wrong/plugin 1)

# The same attention in a program with ranks of its own.
function(build_verify source wanted)
  file(COPY ${scratch}/prefix/share/doc/RingCheck/examples/verify/ DESTINATION ${source}/../verify)
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
    COMMAND ${CMAKE_COMMAND} -S ${source}/../verify -B ${source}/../verify/build -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS}
      "-DCMAKE_PREFIX_PATH=${scratch}/prefix;${TORCH_PREFIX}")
  execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
    COMMAND ${CMAKE_COMMAND} --build ${source}/../verify/build)
  execute_process(RESULT_VARIABLE code WORKING_DIRECTORY ${source}
    COMMAND mpirun -n 2 ${source}/../verify/build/verify
      --case subject:plugin[program]/causal/P2/s64/float32 --json result.json)
  if(NOT code EQUAL wanted)
    message(FATAL_ERROR "the program of ${source} ended with ${code}, expected ${wanted}")
  endif()
endfunction()
build_verify(${scratch}/right/plugin 0)
build_verify(${scratch}/wrong/plugin 1)

build_and_run(${scratch}/prefix)
file(RENAME ${scratch}/prefix ${scratch}/moved)
build_and_run(${scratch}/moved)
