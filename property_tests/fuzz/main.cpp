// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_fuzz PARSER [flags of libFuzzer] [files]   gives a parser whatever a search by coverage
// thinks of, or these files. Without arguments: the parsers.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "cli/process/folder.h"
#include "property_tests/fuzz/heap.h"
#include "property_tests/fuzz/parser.h"

extern "C" int LLVMFuzzerRunDriver(int* count, char*** words,
                                   int (*one)(const uint8_t* data, size_t size));

namespace ringcheck::fuzz {

std::string file_of(const std::string& bytes) {
  static const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != size)
    throw std::runtime_error("no file in memory");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string committed(const std::string& path) {
  std::ifstream stream(RINGCHECK_SOURCE_DIR "/" + path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error("cannot read " + path);
  return text.str();
}

void demand(bool holds, const char* law) {
  if (holds) return;
  std::cerr << "a law is broken: " << law << std::endl;
  std::abort();
}

namespace {

const Parser* parser = nullptr;

int one(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  begin_heap_peak();
  parser->parse(bytes);
  if (heap_peak() > allowed(size)) {
    std::cerr << heap_peak() << " bytes of memory for " << size << " of input; allowed are "
              << allowed(size) << std::endl;
    std::abort();
  }
  return 0;
}

int names() {
  for (const auto& [name, known] : Parsers::all()) std::cout << name << "\n";
  return 0;
}

int run(int count, char** words) {
  if (count < 2) return names();
  parser = &Parsers::at(words[1]);
  const cli::TemporaryFolder folder;
  int number = 0;
  std::string corpus = folder.path();
  // A finding is exit code 1, a hang 5; what is asked for after these counts.
  std::string code = "-error_exitcode=1", hang = "-timeout_exitcode=5", time = "-timeout=10";
  std::vector<char*> all{words[0], code.data(), hang.data(), time.data()};
  all.insert(all.end(), words + 2, words + count);
  bool files = false;
  for (int i = 2; i < count; ++i) files = files || words[i][0] != '-';
  std::vector<std::string> corpus_files = parser->seeds();
  for (const std::string& seed : corpus_files)  // what is made once is made now
    demand(parser->parse(seed), "a seed is taken: else a search begins nowhere");
  for (const std::string& text : parser->refused()) corpus_files.push_back(text);
  for (const std::string& text : corpus_files)
    std::ofstream(folder.file(std::to_string(number++)), std::ios::binary) << text;
  if (!files) all.push_back(corpus.data());
  int words_left = static_cast<int>(all.size());
  all.push_back(nullptr);
  char** first = all.data();
  return LLVMFuzzerRunDriver(&words_left, &first, one);
}

}  // namespace
}  // namespace ringcheck::fuzz

int main(int count, char** words) {
  try {
    return ringcheck::fuzz::run(count, words);
  } catch (const std::out_of_range& error) {
    std::cerr << "ringcheck_fuzz: parser: " << error.what() << "\n";
    return 2;
  }
}
