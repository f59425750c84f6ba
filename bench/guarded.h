// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <iostream>
#include <string>

#include "cli/usage_error.h"
#include "cp/worlds/torch_variables.h"
#include "parity/case/case.h"
#include "reports/exit_codes.h"
#include "reports/file.h"

namespace ringcheck::bench {

// The exit code of a program of this name, by docs/cli.md: what its body returns, 2 for bad input, 5 for what else
// is thrown, said on stderr.
int guarded(const std::string& name, const std::invocable auto& body) {
  const auto said = [&](const std::exception& error, int code) {
    std::cerr << name << ": " << error.what() << std::endl;
    return code;
  };
  try {
    return body();
  } catch (const parity::BadCase& error) {
    return said(error, exit_codes::kUsage);
  } catch (const cli::UsageError& error) {
    return said(error, exit_codes::kUsage);
  } catch (const BadLaunch& error) {
    return said(error, exit_codes::kUsage);
  } catch (const reports::Unwritable& error) {
    return said(error, exit_codes::kUsage);
  } catch (const std::exception& error) {
    return said(error, exit_codes::kDead);
  }
}

}  // namespace ringcheck::bench
