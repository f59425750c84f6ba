# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Script: installs BUILD_DIR into a fresh folder, builds the consumer against that and runs it.

set(scratch ${BUILD_DIR}/consumer_test)
file(REMOVE_RECURSE ${scratch})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${scratch}/prefix)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${scratch}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS}
    -D RingCheck_ROOT=${scratch}/prefix -D CMAKE_PREFIX_PATH=${TORCH_PREFIX})
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CMAKE_COMMAND} --build ${scratch}/build)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${scratch}/build/consumer)
