// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A dump of a training step, as `ringcheck guard` reads it.
#include "cli/guard/guard_file.h"

#include <ATen/ATen.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "cli/process/folder.h"
#include "cli/usage_error.h"
#include "parity/case/case.h"
#include "parity/case/safetensors.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& bytes) {
  try {
    const cli::GuardFile file = cli::read_guard_file(file_of(bytes));
    demand(file.world < 0 ? file.rank < 0 : file.rank >= 0 && file.rank < file.world,
           "a rank is one of its world, or neither is said");
    demand(std::isfinite(file.scale), "a scale is a number");
    demand(file.group() >= 1, "every kv head has a query head");
  } catch (const cli::UsageError&) {
    return false;
  } catch (const parity::BadCase&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const cli::TemporaryFolder folder;
  std::vector<std::string> files;
  for (const bool full : {false, true}) {
    parity::Safetensors dump;
    for (const char* name : {"q", "o", "do", "dq"}) dump.tensors[name] = at::ones({1, 2, 1, 1}, at::kHalf);
    for (const char* name : {"k", "v", "dk", "dv"}) dump.tensors[name] = at::ones({1, 1, 1, 1}, at::kHalf);
    if (full) {
      dump.tensors["lse"] = at::zeros({1, 2, 1}, at::kHalf);
      dump.metadata = {{"scale", "0.5"}, {"rank", "1"}, {"world", "2"}, {"rope", "none"}};
    }
    parity::write_safetensors(folder.file("file"), dump);
    std::ifstream stream(folder.file("file"), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

const Parsers::Add add{"guard_file", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
