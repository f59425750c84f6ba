// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;  // of the lines; their results have kSchemaVersion
// What survived an earlier attempt of a launcher may still be at its files.
constexpr std::chrono::milliseconds kPatience{2000}, kPause{50};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Unwritable("cannot write the journal '" + path + "': " + why);
}

// Whoever had the lock may have removed the file, at its end, before it was ours.
bool is_still(const std::string& path, int descriptor) {
  struct stat own {}, there {};
  return ::fstat(descriptor, &own) == 0 && ::stat(path.c_str(), &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

// A disk that knows no locks holds nobody back.
bool locks(int descriptor, int how) {
  return ::flock(descriptor, how | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

int opened(const std::string& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (fs::exists(found) && !fs::is_regular_file(found))
    refuse(path, "it is no regular file; move it away, or name another result");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0)
      refuse(path, std::string(std::strerror(errno)) + "; name a result in a folder that may be written to");
    const bool locked = locks(descriptor, LOCK_EX);
    if (locked && is_still(path, descriptor)) return descriptor;
    ::close(descriptor);
    if (!locked) std::this_thread::sleep_for(kPause);
  } while (std::chrono::steady_clock::now() < end);
  refuse(path, "another run is writing it; wait for its end, or name another result");
}

// PATH.1, or the first number that is free.
std::string moved_aside(const std::string& path) {
  for (int number = 1;; ++number) {
    const std::string name = path + "." + std::to_string(number);
    if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0)
      return name;
    if (errno != EEXIST)
      refuse(path, "it is left from an earlier run and cannot be renamed (" +
                       std::string(std::strerror(errno)) + "); move it away");
  }
}

std::string line_of(const json& line) {
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// The number of a case that `line` is about, which has not ended.
size_t case_in(const json& line, const char* name, const Journaled& known) {
  const json& said = line.at(name);
  const size_t cases = known.result.cases.size();
  if (!said.is_number_unsigned() || said.get<size_t>() >= cases)
    throw std::invalid_argument("it speaks of case " + said.dump() + " of " + std::to_string(cases));
  if (known.ended[said.get<size_t>()])
    throw std::invalid_argument("case " + said.dump() + " has ended before");
  return said;
}

// Everything in the lines behind the first. Cases run one after the other.
void add(const json& line, Journaled& known) {
  if (line.contains("began")) {
    const size_t test = case_in(line, "began", known);
    if (known.running)
      throw std::invalid_argument("case " + std::to_string(test) + " begins while case " +
                                  std::to_string(*known.running) + " runs");
    known.running = test;
  } else {
    const size_t test = case_in(line, "ended", known);
    if (known.running != test)
      throw std::invalid_argument("case " + std::to_string(test) + " ends and had not begun");
    CaseResult result = case_from_json(line.at("case"));
    if (result.name != known.result.cases[test].name)
      throw std::invalid_argument("case " + std::to_string(test) + " is '" + known.result.cases[test].name +
                                  "' in the first line and '" + result.name + "' where it ends");
    known.result.cases[test] = std::move(result);
    known.ended[test] = true;
    known.running.reset();
  }
  double& seconds = known.result.environment.wall_seconds.value;
  const double at = line.at("at").get<double>();
  if (!(at >= seconds))
    throw std::invalid_argument("it is of second " + line.at("at").dump() + ", the line before it of second " +
                                json(seconds).dump());
  seconds = at;
}

// Nothing where it is no JSON, and why.
std::optional<json> parsed(std::string_view line, std::string& why) try {
  return parse_json(line);
} catch (const std::invalid_argument& error) {
  why = error.what();
  return std::nullopt;
}

Journaled begun_with(const json& first) {
  if (!first.is_object() || !first.contains("journal"))
    throw std::invalid_argument("its first line has no member journal");
  if (first["journal"] != kVersion)
    throw std::invalid_argument("it is a journal of version " + first["journal"].dump() +
                                ", this program reads " + std::to_string(kVersion));
  if (first.value("schema_version", json()) != kSchemaVersion)
    throw std::invalid_argument("its results have schema version " +
                                first.value("schema_version", json()).dump() +
                                ", this program reads " + std::to_string(kSchemaVersion));
  Journaled known{uncounted_from_json(first), {}, {}};
  if (known.result.kind != Kind::kVerify)
    throw std::invalid_argument("it is of kind " + to_text(known.result.kind));
  known.ended.resize(known.result.cases.size());
  known.result.environment.wall_seconds = 0;  // of the run, which begins
  return known;
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)), descriptor_(opened(path_)) {
  if (is_empty()) return;
  try {
    earlier_ = moved_aside(path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  ::close(descriptor_);
  descriptor_ = opened(path_);
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::head(const Result& nothing_ran) {
  begin_ = std::chrono::steady_clock::now();
  json line = to_json(nothing_ran);
  line["journal"] = kVersion;
  write(line_of(line));
  ::fsync(descriptor_);
}

void Journal::began(size_t test) { write(line_of({{"began", test}, {"at", at()}})); }

void Journal::ended(size_t test, const CaseResult& result) {
  write(line_of({{"ended", test}, {"at", at()}, {"case", to_json(result)}}));
  ::fsync(descriptor_);
}

bool Journal::is_empty() const {
  struct stat facts {};
  return ::fstat(descriptor_, &facts) == 0 && facts.st_size == 0;
}

void Journal::remove() { ::unlink(path_.c_str()); }

double Journal::at() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

// A full disk costs what a journal is for, not the run.
void Journal::write(const std::string& line) {
  for (size_t done = 0; !full_ && done < line.size();) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      full_ = true;
      std::cerr << "ringcheck: the journal '" << path_ << "' cannot be written: "
                << std::strerror(errno) << "; what ends from now on is lost if this run is killed\n";
    }
  }
}

Journaled read_journal(const std::string& text) {
  std::optional<Journaled> known;
  size_t number = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string why;
    const std::optional<json> line =
        parsed(std::string_view(text).substr(begin, end - begin), why);
    ++number;
    if (!line && end == text.size() && known) break;
    if (!line && !known)
      throw std::invalid_argument(end == text.size() ? "its first line is cut"
                                                     : "its first line is no JSON: " + why);
    try {
      if (!line) throw std::invalid_argument(why);
      if (known) add(*line, *known);
      else known = begun_with(*line);
    } catch (const json::exception& error) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + words_of(error));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (!known) throw std::invalid_argument("it is empty");
  known->result.summary = summary_of(known->result.cases);
  return std::move(*known);
}

bool is_being_written(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool free = locks(descriptor, LOCK_SH);
  ::close(descriptor);
  return !free;
}

}  // namespace ringcheck::reports
