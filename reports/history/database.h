// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "reports/history/bad_history.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite, with destructors and exceptions.
namespace ringcheck::reports {

class Database {
 public:
  // Of a file that is there; with `create`, one is made where none is.
  Database(const std::string& path, bool create);

  const std::string& path() const { return path_; }
  bool read_only() const;
  void execute(const std::string& sql);
  void execute_unless_busy(const std::string& sql);  // with another process: then nothing is done
  // The only value of the only row; an empty string where there is none.
  std::string value(const std::string& sql);
  int64_t rows_changed() const;

  // Throws BadHistory with what this code of SQLite means for who asked.
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// SQL with places for values, numbered from 1. Texts are copied.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);

  void bind(int place, int64_t value);
  void bind(int place, int value) { bind(place, static_cast<int64_t>(value)); }
  void bind(int place, double value);  // NaN is NULL
  void bind(int place, const std::string& value);
  void bind(int place, const std::optional<double>& value);
  void bind_bytes(int place, const std::string& value);

  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  void reset();
  bool step();  // false behind the last row
  void run() {
    while (step()) {
    }
  }

  // Columns of the row, from 0.
  int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;
  std::string text(int column) const;  // or bytes

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  void check(int code) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Of one writer at a time; undone unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace ringcheck::reports
