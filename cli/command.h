// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `ringcheck`: its words, the name among them, and its exit code. What it throws at itself it says and returns.
// In libringcheck_command.so, which the program is linked to and ringcheck_verify (abi/ringcheck.h) loads.
extern "C" int ringcheck_command(int count, const char* const* words);
