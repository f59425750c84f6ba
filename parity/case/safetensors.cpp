// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/safetensors.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cp/words.h"
#include "parity/case/case.h"

namespace ringcheck::parity {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using nlohmann::json;

constexpr uint64_t kLongestHeader = 100'000'000;  // the limit of the format's own library
constexpr int kDeepest = 3;  // the header, a tensor, its shape

struct Dtype {
  const char* name;
  at::ScalarType type;
};
constexpr Dtype kDtypes[] = {{"F64", at::kDouble},
                             {"F32", at::kFloat},
                             {"F16", at::kHalf},
                             {"BF16", at::kBFloat16},
                             {"I64", at::kLong}};

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& fix) {
  throw BadCase("safetensors file '" + path + "' " + what + "; " + fix);
}

// What a reader of the file says of it.
class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    std::error_code error;
    if (const auto status = std::filesystem::status(path, error);
        std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
      fail(path, "is not a regular file", "check the name");  // a pipe would be waited for
    stream_.open(path, std::ios::binary);
    if (!stream_)
      fail(path, std::string("cannot be read: ") + std::strerror(errno), "check the name");
    stream_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(stream_.tellg());
  }
  uint64_t size() const { return size_; }

  void read(uint64_t from, void* to, uint64_t bytes) {
    stream_.seekg(static_cast<std::streamoff>(from));
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!stream_)
      broken("cannot be read at byte " + std::to_string(from));
  }
  [[noreturn]] void broken(const std::string& what) const {
    fail(path_, what, "write it again, for example with safetensors' save_file");
  }

 private:
  std::string path_;
  std::ifstream stream_;
  uint64_t size_ = 0;
};

struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // of the data, after the header
};

at::ScalarType dtype_of(const std::string& path, const std::string& name,
                        const std::string& dtype) {
  for (const Dtype& known : kDtypes)
    if (dtype == known.name)
      return known.type;
  fail(path, "has tensor '" + name + "' of dtype " + dtype, "use F64, F32, F16 or BF16, and I64 for positions");
}

// A member that is a list of sizes: a number with a point, or a sign, is none.
const json& sizes_of(const std::string& name, const char* member, const json& j) {
  const json& sizes = j.at(member);
  bool good = sizes.is_array();
  for (const json& size : sizes) good = good && size.is_number_unsigned();
  if (!good) throw std::out_of_range(std::string(member) + " of '" + name + "' " + sizes.dump());
  return sizes;
}

Entry entry_of(const std::string& path, const std::string& name, const json& j) {
  const std::vector<uint64_t> offsets = sizes_of(name, "data_offsets", j);
  if (offsets.size() != 2)
    throw std::out_of_range("data_offsets of '" + name + "' is no pair");
  return {name, dtype_of(path, name, j.at("dtype")), sizes_of(name, "shape", j), offsets[0], offsets[1]};
}

// Elements times their size; too large a product is no size.
std::optional<uint64_t> bytes_of(const Entry& entry) {
  uint64_t bytes = c10::elementSize(entry.type);
  for (const int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

// Every byte of the data belongs to exactly one tensor.
void check_layout(const File& file, std::vector<Entry> entries, uint64_t data) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t end = 0;
  for (const Entry& entry : entries) {
    const std::string place = "tensor '" + entry.name + "' at data bytes " +
                              std::to_string(entry.begin) + " to " + std::to_string(entry.end);
    if (entry.end < entry.begin || bytes_of(entry) != entry.end - entry.begin)
      file.broken("has " + place + ", which is not what its shape and dtype take");
    if (entry.begin < end)
      file.broken("has " + place + ", which overlaps another one");
    if (entry.begin > end)
      file.broken("has a hole before " + place);
    if (entry.end > data)
      file.broken("is truncated: " + place + ", the file ends at " + std::to_string(data));
    end = entry.end;
  }
  if (end != data)
    file.broken("has " + std::to_string(data - end) + " bytes behind its tensors");
}

std::string header_of(File& file) {
  if (file.size() < 8)
    file.broken("is truncated: it has " + std::to_string(file.size()) + " bytes");
  uint64_t length = 0;
  file.read(0, &length, 8);
  if (length > kLongestHeader)
    file.broken("is not in this format: its header would take " + std::to_string(length) +
                " bytes");
  if (length > file.size() - 8)
    file.broken("is truncated: its header takes " + std::to_string(length) + " bytes, " +
                std::to_string(file.size() - 8) + " follow");
  std::string header(length, ' ');
  file.read(8, header.data(), length);
  return header;
}

// A name that stands twice in an object has two values; which one is meant nobody knows.
json parsed_header(const std::string& text) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  return json::parse(text, [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= kDeepest)
      throw std::out_of_range("it is nested deeper than " + std::to_string(kDeepest) + " levels");
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key && !names.back().insert(parsed).second)
      throw std::out_of_range(parsed.dump() + " stands in it twice");
    return true;
  });
}

}  // namespace

Safetensors read_safetensors(const std::string& path) {
  File file(path);
  const std::string header = header_of(file);
  Safetensors content;
  std::vector<Entry> entries;
  try {
    for (const auto& [name, value] : parsed_header(header).get<std::map<std::string, json>>()) {
      if (name == "__metadata__")
        content.metadata = value.get<std::map<std::string, std::string>>();
      else
        entries.push_back(entry_of(path, name, value));
    }
  } catch (const json::exception& error) {
    file.broken(std::string("has a header that is not what the format says: ") + words_of(error));
  } catch (const std::out_of_range& error) {
    file.broken(std::string("has a header that is not what the format says: ") + words_of(error));
  }
  const uint64_t data = 8 + header.size();
  check_layout(file, entries, file.size() - data);
  for (const Entry& entry : entries) {
    at::Tensor tensor = at::empty(entry.shape, entry.type);
    file.read(data + entry.begin, tensor.data_ptr(), entry.end - entry.begin);
    content.tensors.emplace(entry.name, std::move(tensor));
  }
  return content;
}

namespace {

std::string dtype_name(const std::string& path, const std::string& name, at::ScalarType type) {
  for (const Dtype& known : kDtypes)
    if (type == known.type)
      return known.name;
  fail(path, "cannot hold tensor '" + name + "' of dtype " + c10::toString(type),
       "convert it to float64, float32, float16, bfloat16 or int64");
}

// The header, padded so that the data is aligned to 8 bytes.
std::string written_header(const std::string& path, const Safetensors& content) {
  json header = json::object();
  if (!content.metadata.empty())
    header["__metadata__"] = content.metadata;
  uint64_t end = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const uint64_t begin = end;
    end += tensor.nbytes();
    header[name] = {{"dtype", dtype_name(path, name, tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

// What is written beside a file, until it is renamed: gone unless that was done.
class Beside {
 public:
  explicit Beside(const std::string& path) : path_(path), name_(path + ".tmp" + std::to_string(::getpid())) {}
  ~Beside() {
    if (!renamed_) std::remove(name_.c_str());
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  const std::string& name() const { return name_; }
  // Once all of it is on the disk.
  bool rename() {
    const int descriptor = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC);
    const bool is_on_disk = descriptor >= 0 && ::fsync(descriptor) == 0;
    if (descriptor >= 0) ::close(descriptor);
    return renamed_ = is_on_disk && std::rename(name_.c_str(), path_.c_str()) == 0;
  }

 private:
  std::string path_, name_;
  bool renamed_ = false;
};

}  // namespace

void write_safetensors(const std::string& path, const Safetensors& content) {
  const std::string header = written_header(path, content);
  Beside beside(path);
  std::ofstream stream(beside.name(), std::ios::binary);
  const uint64_t length = header.size();
  stream.write(reinterpret_cast<const char*>(&length), 8);
  stream.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const auto& [name, tensor] : content.tensors) {
    const at::Tensor flat = tensor.cpu().contiguous();
    stream.write(static_cast<const char*>(flat.const_data_ptr()),
                 static_cast<std::streamsize>(flat.nbytes()));
  }
  stream.close();
  if (!stream || !beside.rename())
    fail(path, std::string("cannot be written: ") + std::strerror(errno), "name a file in a folder that may be written to");
}

}  // namespace ringcheck::parity
