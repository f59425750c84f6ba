// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/deflate.h"

#include <zlib.h>

#include <stdexcept>

namespace ringcheck::reports {
namespace {

const Bytef* bytes_of(const std::string& text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

}  // namespace

std::string deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(out.data()), &size, bytes_of(text), text.size()) != Z_OK)
    throw std::bad_alloc();
  out.resize(size);
  return out;
}

std::string inflated(const std::string& deflated, size_t bytes) {
  std::string out(bytes, '\0');
  uLongf size = bytes;
  const int code = uncompress(reinterpret_cast<Bytef*>(out.data()), &size, bytes_of(deflated),
                              deflated.size());
  if (code != Z_OK || size != bytes) throw std::invalid_argument("its compressed form is damaged");
  return out;
}

}  // namespace ringcheck::reports
