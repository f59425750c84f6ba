// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "abi/ringcheck.h"

namespace ringcheck::parity {

// The library in plugin[program]: none, but the program that called ringcheck_verify.
inline constexpr const char* kProgram = "program";

// What plugin_of(kProgram) gives from now on.
void lend_program(const ringcheck_subject* subject);

// While it lives, and the name, code of this plug-in runs on this thread: where it ends the process, that is
// bad input, and is said.
class Asked {
 public:
  explicit Asked(const std::string& library);
  ~Asked();
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

// The subject that a shared library defines; the library stays loaded. A name with a slash, or of a
// file that is here, is a path; any other is looked for as the loader does. Throws BadCase where
// there is none, or it is of another version of the interface.
const ringcheck_subject& plugin_of(const std::string& library);

}  // namespace ringcheck::parity
