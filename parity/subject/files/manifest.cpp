// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/files/manifest.h"

#include <c10/util/hash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "parity/case/case.h"

namespace ringcheck::parity {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kManifest = "manifest.json";
constexpr uintmax_t kLongest = 64 << 20;  // bytes of a manifest

// A folder on its way to be believed.
class Folder {
 public:
  Folder(std::string path, const Format& format) : path_(std::move(path)), format_(format) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw BadCase("'" + path_ + "' " + what + "; give a folder as " + format_.made_by + " writes it");
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  // Of a regular file, or what is wrong.
  uintmax_t size_of(const std::string& name) const {
    std::error_code error;
    const fs::file_status found = fs::status(file(name), error);
    if (!fs::exists(found)) refuse("has no file " + name);
    if (!fs::is_regular_file(found)) refuse("has " + name + ", which is no regular file");
    const uintmax_t size = fs::file_size(file(name), error);
    if (error) refuse("has " + name + ", which cannot be read: " + error.message());
    return size;
  }

  std::string read(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) refuse("has " + name + ", which cannot be read: " + std::strerror(errno));
    return bytes;
  }

  void check(const std::string& name, const json& written) const {
    if (fs::path(name).is_absolute() || name.find("..") != std::string::npos)
      refuse("has a manifest that names the file '" + name + "' outside of it");
    const uintmax_t size = size_of(name), bytes = written.at("bytes");
    if (size != bytes)
      refuse("has " + name + " of " + std::to_string(size) + " bytes, where the manifest says " +
             std::to_string(bytes));
    if (written.at("sha1") != checksum(read(name)))
      refuse("has " + name + " with another checksum than the manifest says: it was changed");
  }

 private:
  std::string path_;
  const Format& format_;
};

// That of a manifest covers all the rest of it.
std::string own_checksum(json manifest) {
  manifest.erase("sha1");
  return checksum(manifest.dump(-1, ' ', false, json::error_handler_t::replace));
}

json parsed(const Folder& folder) {
  if (folder.size_of(kManifest) > kLongest) folder.refuse("has a manifest above 64 MiB");
  const json manifest = json::parse(folder.read(kManifest), nullptr, false);
  if (!manifest.is_object()) folder.refuse("has a manifest.json that is no JSON object");
  return manifest;
}

// Before anything else of it is believed.
void check_version(const Folder& folder, const Format& format, const json& manifest) {
  if (manifest.value("format", json()) != format.name)
    folder.refuse("is not of format " + format.name);
  const json version = manifest.value("schema_version", json());
  if (version != format.version)
    folder.refuse("is of version " + version.dump() + " of " + format.name + "; this program reads " +
                  std::to_string(format.version));
}

void save(const std::string& folder, json manifest) {
  manifest["sha1"] = own_checksum(manifest);
  const std::string path = folder + "/" + kManifest, temporary = path + ".new";
  std::ofstream stream(temporary, std::ios::binary);
  stream << manifest.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
  stream.close();
  if (!stream || std::rename(temporary.c_str(), path.c_str()) != 0)
    throw BadCase("cannot write '" + path + "': " + std::strerror(errno) +
                  "; name a folder that may be written to");
}

}  // namespace

std::string checksum(const std::string& bytes) { return c10::sha1(bytes).str(); }

void write_manifest(const std::string& folder, const Format& format, json content) {
  const Folder here(folder, format);
  content["format"] = format.name;
  content["schema_version"] = format.version;
  const json names = std::exchange(content["files"], json::object());
  for (const std::string name : names) {
    const std::string bytes = here.read(name);
    content["files"][name] = {{"bytes", bytes.size()}, {"sha1", checksum(bytes)}};
  }
  save(folder, std::move(content));
}

json read_manifest(const std::string& path, const Format& format) {
  const Folder folder(path, format);
  std::error_code error;
  if (!fs::is_directory(path, error))
    folder.refuse(fs::exists(path, error) ? "is no folder" : "is not there");
  const json manifest = parsed(folder);
  check_version(folder, format, manifest);
  if (manifest.value("sha1", json()) != own_checksum(manifest))
    folder.refuse("has a manifest with another checksum than it says: it was changed");
  return manifest;
}

void check_files(const std::string& path, const Format& format, const json& manifest) {
  const Folder folder(path, format);
  try {
    for (const auto& [name, written] : manifest.at("files").items()) folder.check(name, written);
  } catch (const json::exception& wrong) {
    folder.refuse(std::string("has a manifest that is not what its version says: ") + wrong.what());
  }
}

void add_to_manifest(const std::string& folder, const Format& format, const std::string& name,
                     const json& value) {
  json manifest = read_manifest(folder, format);
  manifest[name] = value;
  save(folder, std::move(manifest));
}

}  // namespace ringcheck::parity
