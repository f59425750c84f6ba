// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/safetensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "parity/case/case.h"
#include "property_tests/cli/program.h"
#include "property_tests/property.h"

namespace ringcheck::parity {
namespace {

using testing::Folder;
using ::testing::HasSubstr;
using testing::read_text;
using testing::write_text;

Safetensors sample() {
  Safetensors content;
  content.tensors["q"] = at::arange(24, at::kFloat).view({1, 2, 3, 4});
  content.tensors["k"] = at::arange(12, at::kDouble).view({1, 1, 3, 4});
  content.tensors["v"] = at::full({2, 3}, 1.5, at::kBFloat16);
  content.tensors["half"] = at::full({5}, -0.25, at::kHalf);
  content.tensors["positions"] = at::arange(3, at::kLong);
  content.tensors["empty"] = at::empty({0, 4}, at::kFloat);
  content.tensors["scalar"] = at::scalar_tensor(2.0, at::kDouble);
  content.metadata = {{"mask", "causal"}, {"rank", "0"}};
  return content;
}

// A file with this header and this many bytes of data.
std::string file_text(const std::string& header, size_t data) {
  const uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(data, '\0');
}

std::string complaint(const std::string& text) {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  write_text(path, text);
  try {
    read_safetensors(path);
  } catch (const BadCase& error) {
    EXPECT_THAT(error.what(), HasSubstr(path));
    return error.what();
  }
  return "";
}

std::string header_of(const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
  return R"({"q":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
  const Folder folder;
  const Safetensors content = sample();
  write_safetensors(folder.file("a"), content);
  const Safetensors back = read_safetensors(folder.file("a"));
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    EXPECT_EQ(back.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(back.tensors.at(name), tensor)) << name;
  }
}

TEST(Safetensors, StridedTensorsAreWrittenInOrder) {
  const Folder folder;
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3}).t();
  write_safetensors(folder.file("a"), {{{"x", x}}, {}});
  EXPECT_TRUE(at::equal(read_safetensors(folder.file("a")).tensors.at("x"), x));
}

TEST(Safetensors, EveryTruncationIsSeen) {
  const Folder folder;
  write_safetensors(folder.file("a"), sample());
  const std::string text = read_text(folder.file("a"));
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_THAT(complaint(text.substr(0, length)), HasSubstr("truncated")) << length;
}

RC_GTEST_PROP(Safetensors, ADamagedFileIsReadOrRefused, ()) {
  const Folder folder;
  write_safetensors(folder.file("a"), sample());
  std::string text = read_text(folder.file("a"));
  const auto at = *rc::gen::inRange<size_t>(0, text.size()).as("byte");
  text[at] = *rc::gen::arbitrary<char>().as("value");
  complaint(text);
}

TEST(Safetensors, WhatIsWrongIsNamed) {
  EXPECT_THAT(complaint(file_text(header_of("F8_E4M3", "[2]", "[0,2]"), 2)), HasSubstr("F8_E4M3"));
  EXPECT_THAT(complaint(file_text(header_of("F32", "[2]", "[0,4]"), 4)), HasSubstr("'q'"));
  EXPECT_THAT(complaint(file_text(header_of("F32", "[1]", "[0,4]"), 8)),
              HasSubstr("4 bytes behind"));
  EXPECT_THAT(complaint(file_text(header_of("F32", "[1]", "[4,8]"), 8)), HasSubstr("hole"));
  EXPECT_THAT(complaint(file_text(header_of("F32", "[-1]", "[0,4]"), 4)), HasSubstr("shape"));
  EXPECT_THAT(complaint(file_text(header_of("F32", "[4611686018427387905]", "[0,4]"), 4)),
              HasSubstr("shape"));
  EXPECT_THAT(complaint(file_text(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                                      "b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                                  4)),
              HasSubstr("overlap"));
  for (const char* offsets : {"[0.9,4.2]", "[0,4.0]", "[true,4]", "[-0,4]", "[\"0\",4]", "4", "{}"})
    EXPECT_THAT(complaint(file_text(header_of("F32", "[1]", offsets), 4)), HasSubstr("data_offsets of 'q'")) << offsets;
  EXPECT_THAT(complaint(file_text(header_of("F32", "1", "[0,4]"), 4)), HasSubstr("shape of 'q' 1"));
  EXPECT_THAT(complaint(file_text("not json", 0)), HasSubstr("header"));
  EXPECT_THAT(complaint(file_text("[]", 0)), HasSubstr("header"));
  EXPECT_THAT(complaint(std::string(16, '\xff')), HasSubstr("not in this format"));
}

TEST(Safetensors, MissingAndUnwritableFilesAreNamed) {
  const Folder folder;
  EXPECT_THROW(read_safetensors(folder.file("none")), BadCase);
  EXPECT_THROW(read_safetensors(folder.path()), BadCase);
  EXPECT_THROW(write_safetensors(folder.file("no/such/folder"), sample()), BadCase);
  EXPECT_THROW(write_safetensors(folder.file("a"), {{{"x", at::zeros({2}, at::kInt)}}, {}}),
               BadCase);
}

}  // namespace
}  // namespace ringcheck::parity
