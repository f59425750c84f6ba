// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON inside a history obeys the limits of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "property_tests/cli/program.h"
#include "reports/history/deflate.h"
#include "reports/history/history.h"

namespace ringcheck::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kScaling = RINGCHECK_SOURCE_DIR "/reports/results/h200_gpu4_scaling_threads.json";
const std::string kSmoke = RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json";

// Whatever of it a command needs, it says in a line, by the code of bad input.
class DamagedHistories : public ::testing::Test {
 protected:
  DamagedHistories() {
    EXPECT_EQ(ringcheck({"report", "add", history(), kSmoke, kScaling}).code, 0);
    whole_ = read_text(history());
  }
  template <class... Values>
  void damage(const std::string& sql, const Values&... values) const {
    write_text(history(), whole_);
    reports::Database database(history(), false);
    reports::Statement(database, sql).with(values...).run();
  }
  void refused(const Words& words, const std::string& of, const std::string& why) const {
    const Ran ran = ringcheck(words);
    EXPECT_EQ(ran.code, 2) << words[1] << " " << of << why;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("is damaged: "), HasSubstr(of), HasSubstr(why), HasSubstr("to a new history")));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string history() const { return file("history.db"); }

  Folder folder_;
  std::string whole_;
  const std::vector<std::pair<std::string, std::string>> texts_{
      {R"({"a":)", "parse error"}, {"", "parse error"}, {std::string(101, '['), "nested deeper than 100"},
      {R"({"a":"1","a":"2"})", "stands twice"}};
};

TEST_F(DamagedHistories, AreNamedByTheirColumns) {
  const Words html{"report", "html", history(), "-o", file("page.html")};
  auto texts = texts_;
  texts.emplace_back("[1]", "no object of texts");
  texts.emplace_back(R"({"a":1})", "no object of texts");
  for (const auto& [text, why] : texts) {
    damage("UPDATE runs SET machine = ?", text);
    refused(html, "the machine of run ", why);
    damage("UPDATE series SET parts = ? WHERE series = (SELECT min(series) FROM points WHERE median > 0)", text);
    refused(html, "measurement ", why);
    damage("UPDATE cases SET parts = ? WHERE case_id = (SELECT min(case_id) FROM verdicts)", text);
    refused(html, "case ring:", why);
  }
  EXPECT_FALSE(std::filesystem::exists(file("page.html")));
}

TEST_F(DamagedHistories, AreNamedByTheirResults) {
  const std::string id = reports::History(history()).find("latest");
  const auto refused_by_all = [&](const std::string& why) {
    refused({"report", "show", history(), "latest"}, id, why);
    refused({"compare", id, kSmoke, "--history", history()}, id, why);
    refused({"report", "html", history(), "-o", file("page.html")}, id, why);
  };
  const auto newest = " WHERE run = (SELECT run FROM runs ORDER BY started DESC, run DESC LIMIT 1)";
  for (const auto& [text, why] : texts_) {
    write_text(history(), whole_);
    reports::Database database(history(), false);
    reports::Statement update(database, std::string("UPDATE results SET bytes = ?, deflated = ?") + newest);
    update.bind(1, static_cast<int64_t>(text.size()));
    update.bind_bytes(2, reports::deflated(text));
    update.run();
    refused_by_all(why);
  }
  for (const int64_t bytes : {int64_t{-1}, int64_t{1} << 40, INT64_MAX}) {
    damage(std::string("UPDATE results SET bytes = ?") + newest, bytes);
    refused_by_all("it has " + std::to_string(bytes) + " bytes, and may have 1073741824");
  }
  damage(std::string("UPDATE results SET bytes = bytes + 1") + newest);
  refused_by_all("compressed form is damaged");
}

}  // namespace
}  // namespace ringcheck::testing
