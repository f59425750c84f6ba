# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Script: adds a member of every family to a copy of SOURCE_DIR, in the way of docs/design.md: the
# files below files/, which replace none, and the row of part.txt in a table. Builds the copy and
# demands that the command knows, runs and judges every one of them.

set(scratch ${BUILD_DIR}/members)
set(tree ${scratch}/tree)
cmake_path(RELATIVE_PATH BUILD_DIR BASE_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE below)
if(below MATCHES "^\\.\\.")
  set(below build/release)
endif()
set(build ${tree}/${below})

# The copy, and what is new in it.
file(REMOVE_RECURSE ${scratch})
foreach(part IN ITEMS CMakeLists.txt abi cli cmake cp kernels parity reference reports)
  file(COPY ${SOURCE_DIR}/${part} DESTINATION ${tree} REGEX "/reports/results/[^/]*\\.[a-z]+$" EXCLUDE)
endforeach()
file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_LIST_DIR}/files ${CMAKE_CURRENT_LIST_DIR}/files/*)
foreach(file IN LISTS files)
  if(EXISTS ${tree}/${file})
    message(FATAL_ERROR "${file} exists: it is no new file")
  endif()
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/files/${file} ${tree}/${file})
  message(STATUS "added ${file}")
endforeach()
set(table ${tree}/parity/case/task_parts.cpp)
set(before "  return {batch_part(),")
file(READ ${table} text)
file(READ ${CMAKE_CURRENT_LIST_DIR}/part.txt row)
string(FIND "${text}" "${before}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "parity/case/task_parts.cpp has no '${before}' to put a row behind")
endif()
string(REPLACE "${before}" "${before}\n${row}         " text "${text}")
file(WRITE ${table} "${text}")
message(STATUS "added a row to parity/case/task_parts.cpp")

# What is not new comes from the cache of the compiler, if there is one.
set(ENV{CCACHE_BASEDIR} ${tree})
set(dependencies "")
foreach(name IN ITEMS nlohmann_json cli11)
  if(EXISTS ${BUILD_DIR}/_deps/${name}-src)
    string(TOUPPER ${name} upper)
    list(APPEND dependencies -D FETCHCONTENT_SOURCE_DIR_${upper}=${BUILD_DIR}/_deps/${name}-src)
  endif()
endforeach()
string(TIMESTAMP begin %s)
execute_process(COMMAND_ERROR_IS_FATAL ANY TIMEOUT 300 COMMAND ${CMAKE_COMMAND}
  -S ${tree} -B ${build} -G ${GENERATOR} ${dependencies} -D BUILD_TESTING=OFF -D RINGCHECK_CUDA=OFF
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_PREFIX_PATH=${TORCH_PREFIX})
# A compiler writes a precompiled header differently each time, and the cache goes by its bytes.
foreach(target IN ITEMS ringcheck_pch ringcheck_program_pch)
  set(header CMakeFiles/${target}.dir/cmake_pch.hxx.gch)
  execute_process(COMMAND_ERROR_IS_FATAL ANY TIMEOUT 600
    COMMAND ${CMAKE_COMMAND} --build ${build} --target ${target})
  if(EXISTS ${BUILD_DIR}/${header} AND EXISTS ${build}/${header})
    file(TOUCH ${scratch}/written)
    execute_process(COMMAND touch -r ${build}/${header} ${scratch}/written)
    file(COPY_FILE ${BUILD_DIR}/${header} ${build}/${header})
    execute_process(COMMAND touch -r ${scratch}/written ${build}/${header})  # or it is written again
  endif()
endforeach()
execute_process(COMMAND_ERROR_IS_FATAL ANY TIMEOUT 2400
  COMMAND ${CMAKE_COMMAND} --build ${build} --target ringcheck)
string(TIMESTAMP end %s)
math(EXPR seconds "${end} - ${begin}")
message(STATUS "built in ${seconds} s")

# Runs the command; `output` is what it says.
function(ringcheck)
  execute_process(COMMAND ${build}/bin/ringcheck ${ARGN}
    TIMEOUT 300 RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status STREQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "ringcheck ${command}: ${status}\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(demand_in text what)
  string(FIND "${text}" "${what}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "no '${what}' in:\n${text}")
  endif()
endfunction()

# What an oracle says of a case of a result.
function(verdict_of oracle json case result)
  set(verdict "not asked")
  string(JSON count LENGTH "${json}" cases ${case} oracles)
  foreach(i RANGE ${count})
    if(i EQUAL count)
      break()
    endif()
    string(JSON name GET "${json}" cases ${case} oracles ${i} name)
    if(name STREQUAL oracle)
      string(JSON verdict GET "${json}" cases ${case} oracles ${i} verdict)
    endif()
  endforeach()
  set(${result} ${verdict} PARENT_SCOPE)
endfunction()

# verifies(<what> <least> <oracle>=<verdict>... ARGS <argument>...)
# At least so many cases, which all pass, and of which each of these oracles says that. `json` is
# the result.
function(verifies what least)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGS")
  ringcheck(verify ${arg_ARGS} --json ${scratch}/result.json)
  file(READ ${scratch}/result.json json)
  string(JSON cases GET "${json}" summary cases)
  string(JSON passed GET "${json}" summary passed)
  if(NOT cases EQUAL passed OR cases LESS least)
    message(FATAL_ERROR "${what}: ${passed} of ${cases} cases passed, want all, of ${least}:\n${output}")
  endif()
  math(EXPR last "${cases} - 1")
  foreach(case RANGE ${last})
    foreach(demand IN LISTS arg_UNPARSED_ARGUMENTS)
      string(REGEX MATCH "^(.*)=(.*)$" unused "${demand}")
      set(oracle ${CMAKE_MATCH_1})
      set(want ${CMAKE_MATCH_2})
      verdict_of(${oracle} "${json}" ${case} verdict)
      if(NOT verdict STREQUAL want)
        string(JSON name GET "${json}" cases ${case} name)
        message(FATAL_ERROR "${what}: ${oracle} says ${verdict}, not ${want}, of ${name}")
      endif()
    endforeach()
  endforeach()
  message(STATUS "${what}: ${passed} of ${cases} cases passed; ${arg_UNPARSED_ARGUMENTS}")
  set(json "${json}" PARENT_SCOPE)
endfunction()

set(small --seq 61 --dtype float64,float32)
verifies("strategy gather" 16 parity=pass counters=pass
  ARGS --strategy gather --world 1,2,3,5 --mask full,causal ${small})
verifies("balancer reversed" 16 parity=pass counters=pass balancers=pass
  ARGS --balance reversed --world 1,2,3,5 --mask full,causal ${small}
    --oracles parity,counters,balancers)
verifies("rotation halves" 16 parity=pass counters=pass rotations=pass
  ARGS --rotation halves --world 1,2,3,5 --mask full,causal ${small}
    --oracles parity,counters,rotations)
verifies("kernel written" 16 parity=pass counters=pass
  ARGS --kernel written --world 1,3 --mask full,causal --seq 61 --dtype float64,float32,bf16,fp16)
verifies("subject dense" 12 parity=pass counters=not_applicable
  ARGS --subject dense --world 1,2,5 --mask full,causal ${small})
verifies("all of them at once" 12 parity=pass counters=pass sighted=pass
  ARGS --strategy gather,ring:halves --balance reversed --kernel written --world 2,3,5
    --mask causal --oracles parity,counters,sighted ${small})
verifies("oracle sighted" 6 sighted=pass
  ARGS --oracles sighted --world 3 --mask causal,full,doc[20:30,31] --dtype float32,bf16)

# Profiles draw the new values without anybody having named them, and the cases pass.
ringcheck(verify --list --profile smoke)
foreach(what IN ITEMS gather/ ring:halves/ /reversed/ /written/)
  demand_in("${output}" "${what}")
endforeach()
message(STATUS "profile smoke: has cases of gather, halves, reversed and written")
set(threads --profile smoke --world-kind thread)
verifies("profile smoke, balancer reversed" 10 ARGS ${threads} --balance reversed)
verifies("profile smoke, rotation halves" 10 ARGS ${threads} --rotation halves)
verifies("profile smoke, strategy gather" 10 ARGS ${threads} --strategy gather)
verifies("profile smoke, kernel written" 10 ARGS ${threads} --kernel written)

# Whoever is asked for this fault sees it, the new oracle among them.
ringcheck(faults --fault last_head_unwritten --json ${scratch}/faults.json)
file(READ ${scratch}/faults.json json)
string(JSON cells LENGTH "${json}" faults cells)
if(NOT cells EQUAL 4)
  message(FATAL_ERROR "fault last_head_unwritten: ${cells} cells, want one for each of 4 dtypes")
endif()
foreach(cell RANGE 3)
  string(JSON result GET "${json}" faults cells ${cell} result)
  string(JSON localised GET "${json}" faults cells ${cell} localised)
  string(JSON sighted GET "${json}" faults cells ${cell} seen_by sighted)
  if(NOT result STREQUAL killed OR NOT localised OR NOT sighted STREQUAL fail)
    message(FATAL_ERROR "fault last_head_unwritten: ${result}, localised ${localised}, "
      "oracle sighted says ${sighted}:\n${output}")
  endif()
endforeach()
message(STATUS "fault last_head_unwritten: killed and localised in 4 dtypes, by sighted, too")

# The part: in the help, on the command line, in the text of a case and in JSON, and back.
ringcheck(verify --help)
demand_in("${output}" --per-rank)
demand_in("${output}" "tokens of each rank, in place of --seq")
ringcheck(verify --list --per-rank 17 --world 2,3)
demand_in("${output}" /s34/)
demand_in("${output}" /s51/)
string(REGEX MATCH "[^\n]*/P3/[^\n]*" case "${output}")
demand_in("${case}" /n17/)
verifies("part per_rank" 1 parity=pass counters=pass ARGS --case ${case})
string(JSON name GET "${json}" cases 0 name)
string(JSON value GET "${json}" cases 0 parts per_rank)
if(NOT name STREQUAL case OR NOT value STREQUAL 17)
  message(FATAL_ERROR "case ${case} came back as ${name}, its part per_rank as ${value}")
endif()
message(STATUS "part per_rank: in the help, on the command line, in text and JSON, and back")

file(REMOVE_RECURSE ${scratch})
message(STATUS "every family takes a new member")
