// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/database.h"

#include <sqlite3.h>

#include <filesystem>

namespace ringcheck::reports {
namespace {

constexpr int kPatience = 60'000;  // milliseconds, for another writer

std::string sqlite_path(const std::string& path, bool create) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    throw BadHistory("cannot open '" + path + "': " + why + "; want a history of `ringcheck report add`");
  };
  if (path.empty()) refuse("the name is empty");
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("it is no regular file");
  if (!fs::exists(status) && !create) refuse(error ? error.message() : "No such file or directory");
  return fs::absolute(path);  // SQLite takes some names for more than names
}

std::string meaning(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "cannot grow, its disk is full; nothing was changed, free some of it";
    case SQLITE_IOERR:
      return "cannot be read or written; nothing was changed, look at its disk";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "is held by another process for more than a minute; nothing was changed, try again";
    case SQLITE_NOTADB:
      return "is no history of `ringcheck report add`";
    case SQLITE_CORRUPT:
      return "is damaged; the program sqlite3 saves what can be read by its command .recover";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "cannot be opened; want a file and a folder that may be written to";
    default:
      return "cannot be used";
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }

Database::Database(const std::string& path, bool create) : path_(path) {
  const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_EXRESCODE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(sqlite_path(path, create).c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle, kPatience);
}

bool Database::read_only() const { return sqlite3_db_readonly(handle(), "main") == 1; }

void Database::fail(int code) const {
  throw BadHistory("'" + path_ + "' " + meaning(code) + ": " + sqlite3_errmsg(handle()) +
                   " (SQLite " + std::to_string(code) + ")");
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::execute_unless_busy(const std::string& sql) {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) fail(code);
}

std::string Database::value(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : "";
}

int64_t Database::rows_changed() const { return sqlite3_changes64(handle()); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement, nullptr));
  statement_.reset(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(int place, int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), place, value));
}
void Statement::bind(int place, double value) {
  check(sqlite3_bind_double(statement_.get(), place, value));
}
void Statement::bind(int place, const std::string& value) {
  check(sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}
void Statement::bind(int place, const std::optional<double>& value) {
  if (value) bind(place, *value);
  else check(sqlite3_bind_null(statement_.get(), place));
}
void Statement::bind_bytes(int place, const std::string& value) {
  check(sqlite3_bind_blob64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT));
}

void Statement::reset() { sqlite3_reset(statement_.get()); }  // says again what step() said

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto length = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes == nullptr ? "" : std::string(bytes, length);
}

Transaction::Transaction(Database& database) : database_(database) {
  database.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace ringcheck::reports
