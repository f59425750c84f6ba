// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  int64_t chunks = 0, chunks_counted = 0;  // (rank, run of positions): all, and not vacuous
  Status chart = Status::kNotCalibrated;   // CHART: rms_z against its calibrated mean
  Status bias_status = Status::kNotCalibrated;
  int worst_rank = -1;    // whose slot has the largest max_z; -1: there is no such element
  std::string worst;      // where, in words; empty on a pass
};

struct OracleVerdict {
  std::string name;
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
  std::vector<RankRecord> ranks;
  double seconds = 0;
};

// Of a case, from its oracles: fail before inconclusive before pass; a case in which no oracle
// judged anything is inconclusive.
Status overall(const std::vector<OracleVerdict>& oracles);

}  // namespace ringcheck::parity
