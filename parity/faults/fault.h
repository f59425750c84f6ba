// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cp/registry.h"
#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {

// The interface behind which a bug sits.
enum class Site {
  kCommunicator, kRotation, kCarrier, kMerge, kKernel, kStrategy, kBalancer, kRope, kInput,
  kCounters, kHarness
};
std::string to_text(Site site);

// What a verdict that helps would name. Each that is given must be named.
struct Named {
  std::vector<std::string> tensors = {};  // the first wrong ones are among these
  int rank = -1;                          // of a bug that sits on one rank
  std::vector<std::string> words = {};    // of a finding: a counter, an operation, a step
};

// In place of oracle.judge(evidence).
using AskOracle = std::function<OracleVerdict(const Oracle& oracle, const Evidence& evidence)>;

// A planted bug: something that some oracle must catch. Adding one is a row in a file of
// parity/faults/catalogue, a decorator around one interface.
struct Fault {
  std::vector<std::string> operators = {};  // of the catalogue of real bugs: M13
  std::string stands_for;                   // the real bug, or where such a bug was described
  std::string wrong;                        // what is wrong, in a sentence
  Site site = Site::kKernel;
  std::vector<std::string> cases = {};      // in which it can show, as text without dtype
  std::vector<at::ScalarType> dtypes = {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf};
  Named names = {};
  // The oracle of further runs that it is there for: on its cases alone `parity` sees nothing.
  std::string proves = {};
  // What those runs need, as a case that a kernel must take: one with a window. Empty: nothing.
  std::string needs = {};
  SharedSubject subject = {};                     // the bug planted in the subject, or
  std::function<AskOracle()> judging = {};      // in the judging
  bool hangs = false;                       // it is caught by a short deadline
  // Streams of a GPU are not ordered as they should be. On a CPU, where work is done when its call
  // returns, nothing is wrong.
  bool races = false;
  bool several_gpus = false;                // it shows where ranks compute on different GPUs
  bool on_cpus = false;                     // it shows on CPUs alone
  SharedSubject control = ours();       // the same without the bug
  std::string equivalent = {};              // the proof, where it can change nothing
  // The kernels with which it changes nothing. Believed where no bit of any output changes.
  std::string moot_with = {};
  std::string group = {};                   // the file it stands in
};
using Faults = Registry<Fault>;

// The cases of a fault in one dtype; none where it cannot show there.
std::vector<Case> cases_of(const Fault& fault, at::ScalarType dtype);

// Registers the faults of one file.
struct FaultGroup {
  FaultGroup(const std::string& name, std::vector<std::pair<std::string, Fault>> faults);
};

}  // namespace ringcheck::parity
