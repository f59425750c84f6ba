// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_verify of abi/ringcheck.h: the command, on ranks that somebody else has started.
#include "parity/subject/foreign/command.h"
#include "parity/subject/plugin/library.h"

int32_t ringcheck_verify(int32_t count, const char* const* options, const ringcheck_subject* subject) {
  using namespace ringcheck::parity;
  lend_program(subject);
  const int32_t code = verified_by_all({count, options}, std::string("plugin[") + kProgram + "]");
  lend_program(nullptr);
  return code;
}
