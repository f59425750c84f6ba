// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

// What CLI11 does not check, or does not say.
namespace ringcheck::cli {

// For options that name something: '' is no name.
CLI::Validator not_empty();

// For options of numbers that need not be there, of a type name of their own. CLI11 takes '' for none, and 0x10 for 16.
CLI::Validator a_number();

// Numbers of an option: from `least` to `most`, which NaN is not.
CLI::Validator between(double least, double most);
CLI::Validator whole_between(int64_t least, int64_t most);

// Flags of a subcommand, and of its own, are said or not: --list=3 is refused.
void take_no_value(CLI::App& subcommand);

// CLI11 reads 010 as 8, and 0x10 as 16: options of numbers take decimal digits alone, here and in all that
// is below.
void take_decimals(CLI::App& subcommand);

// For messages of a parse that failed: the words that nobody knew, and the known ones near them.
std::string what_was_wrong(const CLI::App* program, const CLI::Error& error);

// Two options of which one has to go.
[[noreturn]] void contradict(const std::string& a, const std::string& b, const std::string& why);

// Can this kernel run on this device? Throws BadCase or UsageError where it never can, NothingRan
// where the machine has no such device.
void check_kernel_on(const std::string& kernel, const std::string& device);

}  // namespace ringcheck::cli
