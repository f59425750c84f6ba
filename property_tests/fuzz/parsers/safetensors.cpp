// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `verify --tensors` and `ringcheck guard` read it.
#include "parity/case/safetensors.h"

#include <ATen/ATen.h>

#include <fstream>
#include <iterator>

#include "cli/process/folder.h"
#include "parity/case/case.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& bytes) {
  try {
    const parity::Safetensors file = parity::read_safetensors(file_of(bytes));
    uint64_t data = 0;
    for (const auto& [name, tensor] : file.tensors) data += tensor.nbytes();
    demand(data < bytes.size(), "tensors are in the file");
  } catch (const parity::BadCase&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const cli::TemporaryFolder folder;
  std::vector<std::string> files;
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    parity::Safetensors content;
    for (const char* name : {"q", "k"}) content.tensors[name] = at::ones({1, 2, 1, 2}, dtype);
    content.tensors["lse"] = at::empty({1, 0, 3}, dtype);
    content.metadata = {{"scale", "0.5"}};
    parity::write_safetensors(folder.file("file"), content);
    std::ifstream stream(folder.file("file"), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

const Parsers::Add add{"safetensors", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
