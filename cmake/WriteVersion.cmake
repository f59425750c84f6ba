# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Script: writes OUTPUT, the source behind version.h, from VERSION and the commit of SOURCE_DIR.

set(commit unknown)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --verify HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} diff --quiet HEAD
      RESULT_VARIABLE dirty ERROR_QUIET)
    if(dirty)
      string(APPEND commit -dirty)
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "version.h"

namespace ringcheck {

const char* version() { return "@VERSION@"; }
const char* commit() { return "@commit@"; }

}  // namespace ringcheck
]])
