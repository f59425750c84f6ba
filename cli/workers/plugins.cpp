// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/plugins.h"

#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "cli/process/folder.h"
#include "cli/process/process.h"
#include "cli/process/programs.h"
#include "cli/usage_error.h"
#include "parity/case/text.h"
#include "parity/subject/plugin/library.h"
#include "parity/subject/subject.h"

namespace ringcheck::cli {
namespace {

using parity::BadCase;
using parity::Case;

constexpr int kLongestLoading = 60;  // seconds

// Of plug-ins in files.
std::set<std::string> libraries_in(const std::string& text) {
  static const std::regex named(R"(\bplugin\[([^\],]+))");
  std::set<std::string> libraries;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), named); found != std::sregex_iterator(); ++found)
    libraries.insert((*found)[1]);
  libraries.erase(parity::kProgram);
  return libraries;
}

// A worker that meets it: how it ended, within so many seconds or not at all.
std::optional<Ended> met(const std::string& library, const std::vector<std::string>& options,
                         const std::string& output, double seconds) {
  std::vector<std::string> words{own_path(), "worker", "--plugin", library};
  words.insert(words.end(), options.begin(), options.end());
  Process worker({words, {}, output, output + ".errors"});
  worker.wait(seconds);
  return worker.poll();
}

bool is_good(const std::optional<Ended>& ended) { return ended && ended->code == 0 && ended->signal == 0; }

void check_loading(const std::string& library) {
  const TemporaryFolder folder;
  const std::optional<Ended> ended = met(library, {}, folder.file("output"), kLongestLoading);
  if (is_good(ended)) return;
  throw UsageError("plug-in '" + library + "' cannot be loaded: " +
                   (ended ? "whoever loads it ends with " + ended->text() +
                                "; want a library that was built whole, against ringcheck.h"
                          : "it did not return within " + std::to_string(kLongestLoading) +
                                " s; want a library whose loading ends"));
}

std::string last_line_of(const std::string& path) {
  std::ifstream stream(path);
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return last;
}

void check_answers_of(const std::string& library, const std::vector<Case>& cases, double seconds) {
  const TemporaryFolder folder;
  {
    std::ofstream stream(folder.file("cases"));
    for (const Case& test : cases) stream << parity::to_text(test) << "\n";
  }
  const std::optional<Ended> ended =
      met(library, {"--cases", folder.file("cases")}, folder.file("asked"), seconds);
  if (is_good(ended)) return;
  throw UsageError("plug-in '" + library + "', asked what it refuses and promises of " +
                   last_line_of(folder.file("asked")) + ", " +
                   (ended ? "ended the process when it was asked, with " + ended->text()
                          : "did not answer within " + parity::number_text(seconds) + " s") +
                   "; want functions that return");
}

}  // namespace

int ask_plugin(const std::string& library, const std::vector<Case>& cases) {
  try {
    parity::plugin_of(library);
    for (const Case& test : cases) {
      std::cout << parity::to_text(test) << std::endl;
      const parity::SharedSubject subject = parity::subject_of(test);
      subject->refuses(test);
      subject->promise(test);
    }
  } catch (const BadCase&) {
  }
  return 0;
}

void check_plugins(const std::vector<std::string>& texts) {
  std::set<std::string> libraries;
  for (const std::string& text : texts) libraries.merge(libraries_in(text));
  for (const std::string& library : libraries) check_loading(library);
}

void check_answers(const std::vector<Case>& cases, double seconds) {
  std::map<std::string, std::vector<Case>> asked;
  for (const Case& test : cases)
    for (const std::string& library : libraries_in(parity::to_text(test))) asked[library].push_back(test);
  for (const auto& [library, of] : asked) check_answers_of(library, of, seconds);
}

}  // namespace ringcheck::cli
