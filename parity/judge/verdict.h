// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parity/case/case.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

enum class Status {
  kPass,
  kFail,
  kNotSupported,   // a combination that cannot run, refused beforehand
  kSkipped,        // not started
  kInconclusive,   // it ran, but what it shows does not count (vacuous)
  kHang,
  kCrash,
  kNotApplicable,  // an oracle without its input
  kNotCalibrated,  // an oracle without its calibration
};
std::string to_text(Status status);

// Who judged the slots of a rank in one tensor: nobody, where the rank has no token, or the truth has
// no signal there that a zero would miss.
enum class JudgedBy {
  kNoToken,
  kNobody,
  kBounded,  // within its bounds, and a zero would not be in at least one chunk
  kExact,    // every element is what it must be
};
std::string to_text(JudgedBy judged_by);

// The figures of docs/numerics.md for one tensor.
struct TensorVerdict {
  std::string tensor;     // o | lse | dq | dk | dv
  Status status = Status::kPass;
  double max_abs = 0;     // largest |error|
  double relative = 0;    // Frobenius norm of the error over that of the tensor
  double rms_z = 0;       // root mean square of error / sigma
  double max_z = 0;       // largest |error| / sigma            STAT
  double hard_ratio = 0;  // largest |error| / B                HARD
  double bias = 0;        // sum of z sign(reference) / sqrt(M elements), worst rank   BIAS
  double vacuity = 0;     // share of the energy at which a zero would pass      VACUITY
  int64_t compared = 0;   // elements
  int64_t chunks = 0, chunks_counted = 0;  // (rank, run of positions): all, and not vacuous
  Status chart = Status::kNotCalibrated;   // CHART: rms_z against its calibrated mean
  Status bias_status = Status::kNotCalibrated;
  std::vector<JudgedBy> judged_by;         // of each rank; empty where the oracle cannot say
  int worst_rank = -1;    // whose slot has the largest max_z; -1: there is no such element
  std::string worst;      // where, in words; empty on a pass
};

// What an oracle speaks of. Only what it says of values makes a case pass.
enum class About {
  kValues,    // those of the run of the case
  kRelation,  // values of several runs, each beside the others
  kForm,      // what came back, and what it cost
};

struct OracleVerdict {
  std::string name;
  About about = About::kValues;
  Status status = Status::kPass;
  bool contract = false;  // a failure violates a counter or memory contract, not correctness
  std::vector<TensorVerdict> tensors;
  std::vector<std::string> findings;  // what is wrong, in words
  double seconds = 0;                 // of judging, and of the further runs it asked for
};

struct Verdict {
  Case test;
  Status status = Status::kPass;
  std::string reason;                // of not_supported, inconclusive, hang, crash
  std::vector<OracleVerdict> oracles;
  std::map<std::string, std::vector<JudgedBy>> judged;  // of o, lse, dq, dk, dv, by rank: the best
  std::vector<std::string> explained = {};  // what would explain its values, where that was asked for
  std::vector<RankRecord> ranks;
  double seconds = 0;
};

// Of a case, from its oracles: fail before inconclusive before pass; a case in which no oracle
// judged values is inconclusive.
Status overall(const std::vector<OracleVerdict>& oracles);

// Who judged what of a case: for each tensor and rank the best of those that speak of the values of its
// run; a tensor that none of them judged is nobody's.
std::map<std::string, std::vector<JudgedBy>> judged_of(const std::vector<OracleVerdict>& oracles,
                                                       int world);

}  // namespace ringcheck::parity
