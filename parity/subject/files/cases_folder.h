// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parity/subject/files/manifest.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

// Cases that any program may answer: a folder with what each rank is given, and, once that program has
// run, with what each rank gives back (docs/files.md).
inline const Format kCases{"ringcheck-cases", 1, "ringcheck export"};

// The tensors that a rank may give back.
inline const std::vector<std::string> kAnswers{"o", "lse", "dq", "dk", "dv", "q", "k"};

// Before the name of a kernel among the arguments of the subject.
inline const std::string kContract = "contract=";

// As `verify` says a case, without who answers.
std::string question_text(Case test);

// The files of a rank of the case of this number, in the folder.
std::string input_name(size_t number, int rank);
std::string output_name(size_t number, int rank);

// Writes the inputs of all ranks of these cases, and the manifest.
void write_cases(const std::string& folder, const std::vector<Case>& cases,
                 const std::function<void()>& after_each_file = {});

// What is said of a program that answers.
struct Answering {
  std::set<std::string> shows = {};            // the tensors that it has; empty: all
  std::optional<std::string> contract = {};    // the kernel whose rounding errors it may have; none: the loosest
};

// A case of a folder: its text there, and as a case that is answered by what lies in the folder.
struct Question {
  std::string text;
  Case test;
};
// Of answers of such a program. Throws BadCase.
std::vector<Question> read_cases(const std::string& folder, const Answering& answering);

// What a rank gave back for the case of this number. Throws BadCase where its file is not there, is
// no such file, or has a tensor of another name, shape or dtype than it should.
RankOutput read_answer(const std::string& folder, size_t number, const Case& test, int rank);

}  // namespace ringcheck::parity
