// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/tensors.h"

#include <ATen/ATen.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "parity/case/task.h"

namespace ringcheck::parity {
namespace {

using nlohmann::json;

constexpr int64_t kAlignment = 64;
constexpr int64_t kMostBytes = int64_t{1} << 40;

int64_t aligned(int64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

// From the first element to behind the last one, gaps included.
int64_t elements_spanned(const at::Tensor& x) {
  if (x.numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t d = 0; d < x.dim(); ++d) last += (x.size(d) - 1) * x.stride(d);
  return last + 1;
}

at::Tensor span_of(const at::Tensor& x) { return x.as_strided({elements_spanned(x)}, {1}); }

json placed(const std::string& name, const at::Tensor& x, int64_t offset) {
  return {{"name", name}, {"dtype", x.scalar_type() == at::kLong ? "int64" : dtype_text(x.scalar_type())},
          {"shape", x.sizes().vec()}, {"strides", x.strides().vec()}, {"offset", offset}};
}

// Bytes of a contiguous tensor.
int64_t bytes_of(const std::vector<int64_t>& shape, at::ScalarType dtype) {
  int64_t bytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (const int64_t size : shape) {
    if (size < 0 || size > kMostBytes / std::max<int64_t>(bytes, 1))
      throw std::runtime_error("it says that a tensor has a size of " + std::to_string(size));
    bytes *= size;
  }
  return bytes;
}

// A tensor of so many bytes from an offset on.
using Make = std::function<at::Tensor(const std::vector<int64_t>& shape, at::ScalarType dtype, int64_t offset, int64_t bytes)>;

std::map<std::string, at::Tensor> made(const json& list, const Make& make, at::Device device) {
  std::map<std::string, at::Tensor> tensors;
  for (const json& one : list) {
    const at::ScalarType dtype = parse_dtype(one.at("dtype"));
    const std::vector<int64_t> shape = one.at("shape");
    tensors[one.at("name")] = make(shape, dtype, one.at("offset"), bytes_of(shape, dtype)).to(device);
  }
  return tensors;
}

}  // namespace

json in_place(const NamedTensors& tensors) {
  json list = json::array();
  for (const auto& [name, x] : tensors)
    list.push_back(placed(name, x, reinterpret_cast<int64_t>(x.const_data_ptr())));
  return list;
}

json packed(const NamedTensors& tensors, SharedMemory& memory) {
  json list = json::array();
  int64_t end = 0;
  for (const auto& [name, x] : tensors) {
    list.push_back(placed(name, x, end));
    end = aligned(end + elements_spanned(x) * static_cast<int64_t>(x.element_size()));
  }
  std::byte* data = memory.grown_to(std::max<int64_t>(end, kAlignment));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor here = span_of(tensors[i].second).cpu();
    std::memcpy(data + list[i]["offset"].get<int64_t>(), here.const_data_ptr(), here.nbytes());
  }
  return list;
}

std::map<std::string, at::Tensor> unpacked(const json& list, SharedMemory& memory, at::Device device) {
  return made(list, [&](const auto& shape, at::ScalarType dtype, int64_t offset, int64_t bytes) {
    if (offset < 0 || offset > kMostBytes || offset % kAlignment != 0)
      throw std::runtime_error("it says that a tensor begins at byte " + std::to_string(offset));
    if (bytes == 0) return at::empty(shape, dtype);
    const std::shared_ptr<std::byte> data = memory.lent(offset, bytes);
    return at::from_blob(data.get(), shape, [data](void*) {}, dtype);
  }, device);
}

std::map<std::string, at::Tensor> unpacked(const json& list, at::Device device) {
  return made(list, [](const auto& shape, at::ScalarType dtype, int64_t address, int64_t bytes) {
    at::Tensor x = at::empty(shape, dtype);
    if (bytes > 0) std::memcpy(x.mutable_data_ptr(), reinterpret_cast<const void*>(address), static_cast<size_t>(bytes));
    return x;
  }, device);
}

}  // namespace ringcheck::parity
