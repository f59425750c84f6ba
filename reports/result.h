// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/kind.h"

namespace ringcheck::reports {

// The versioned model behind every report; reports/result.schema.json describes its JSON form.
// A later version may add members. It gets a new number when one is removed or changes its meaning.
// Results of version 1 are read as well.
inline constexpr int kSchemaVersion = 2;

enum class Status {
  kPass,
  kFail,
  kNotSupported,
  kSkipped,
  kInconclusive,
  kHang,
  kCrash,
  kNotApplicable,  // oracles only
  kNotCalibrated,  // oracles only
};
std::string to_text(Status verdict);
Status parse_status(const std::string& text);  // throws std::invalid_argument

// A figure that may be NaN or infinite. JSON has no such numbers: there it is the string "nan",
// "inf" or "-inf".
struct Figure {
  double value = 0;
  Figure() = default;
  Figure(double x) : value(x) {}
  operator double() const { return value; }
};

struct TensorResult {
  std::string tensor;  // o | lse | dq | dk | dv
  Status verdict = Status::kPass;
  Figure max_abs, relative, rms_z, max_z, hard_ratio, bias, vacuity;
  int64_t chunks = 0, chunks_counted = 0;
  Status chart = Status::kNotCalibrated;
  Status bias_verdict = Status::kNotCalibrated;
  std::string worst;
};

struct OracleResult {
  std::string name;
  Status verdict = Status::kPass;
  bool contract = false;  // a failure violates a counter or memory contract, not correctness
  std::vector<TensorResult> tensors;
  std::vector<std::string> findings;
};

// Where the time of a pass went, in seconds; NaN where it was not measured.
struct PassSeconds {
  Figure attention = kUnknown, communication = kUnknown, exposed = kUnknown, overlapped = kUnknown;
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
};

// Something that a rank did in a pass. Times are in seconds from the first event of the pass on any
// rank of the same machine; NaN where nobody knows when.
struct Event {
  enum class What { kAttend, kMerge, kSend, kReceive };
  What what = What::kAttend;
  Figure begin, end;             // of a merge both are when it was done
  int64_t pairs = 0, flops = 0;  // attended
  int64_t bytes = 0;             // of a message
  int step = -1, peer = -1;      // -1: none
  std::string operation = {};
};

struct Counted {
  int64_t bytes_sent = 0, bytes_received = 0, messages = 0;
  int64_t pairs = 0, flops = 0, steps = 0, merges = 0;
};
struct PassCounters : Counted {
  PassSeconds seconds;
  int64_t computed = 0;  // pairs that the kernels say they computed; 0: they do not say
  // Blocks attended while a message to the rank was under way; absent in earlier results.
  std::optional<int64_t> overlapped = {};
  std::vector<Event> events = {};  // in the order in which they began, where they were wanted
};

// Everything that one rank moved in a call, whenever and by whichever way.
struct CallTraffic {
  int64_t bytes_sent = 0, bytes_received = 0, messages = 0;
};

struct RankCounted {
  int rank = 0;
  int64_t peak_bytes = 0, kv_bytes = 0, traveller_bytes = 0, wrong_pads = 0;
  PassCounters forward, backward;
  std::vector<int64_t> sent_to, received_from;  // bytes by world rank
};
struct RankResult : RankCounted {
  CallTraffic call;
};

struct CaseResult {
  std::string name;
  std::string group;  // what the console table sums over
  Status verdict = Status::kSkipped;
  std::string reason;     // of every verdict but pass; empty on a pass
  std::string reproduce;  // the command that runs this case alone
  Figure seconds;
  std::map<std::string, std::string> parts;  // the parts of the case by name, for filters
  std::vector<OracleResult> oracles;
  // Who judged o, lse, dq, dk and dv, by rank: bounded, exact, nobody, or no_token where it has none.
  std::map<std::string, std::vector<std::string>> judged;
  // With RoPE: the largest difference, in radians, of an angle in float32 from that in float64.
  std::optional<Figure> float32_angles_off;
  std::vector<RankResult> ranks;
  // Of a failure: what would explain its tensors, "dk and dv: as if ..."; none where nothing does.
  std::vector<std::string> explained = {};
  std::vector<std::string> findings;  // of a hang or crash: what every rank was doing;
                                      // of a failure: how often it fails again
  std::string log;                    // the end of what a dead worker wrote to stderr
};

// What was measured beside what was judged: a figure for each repetition.
struct Measurement {
  std::string name;                          // "time", "FLOP/s"
  std::map<std::string, std::string> parts;  // of what: by them two runs are compared
  std::string unit;                          // "s", "B/s"; empty: a plain number
  std::vector<Figure> samples;
  std::string better = {};                   // smaller | larger; empty: neither
  std::optional<Figure> limit = {};          // what it must keep to
};

struct Environment {
  std::string version, commit, libtorch, mpi, compiler;
  std::string host, cpu, system, launcher, transport, device, command, started;
  int cores = 0;
  Figure wall_seconds;
};

struct Summary {
  int64_t cases = 0, passed = 0, failed = 0, not_supported = 0, skipped = 0, inconclusive = 0,
          hang = 0, crash = 0;
};
Summary summary_of(const std::vector<CaseResult>& cases);

// How many tensors of ranks that hold tokens were judged, over the cases that ran, and how many of
// them by nobody, by tensor.
struct Judged {
  int64_t all = 0, nobody = 0;
  std::map<std::string, int64_t> nobody_by_tensor;
};
Judged judged_in(const std::vector<CaseResult>& cases);

struct Result {
  int schema_version = kSchemaVersion;
  Kind kind = Kind::kVerify;
  Environment environment;
  Summary summary;
  std::vector<CaseResult> cases;
  std::vector<Measurement> measurements;
};

// A case fails in correctness, unless every failed oracle is about a counter or memory contract.
bool only_contract(const CaseResult& test);

// 0 pass, 1 wrong, 4 contract, 5 hang or crash, 6 inconclusive or skipped, 77 nothing ran; where
// several apply 5, 1, 4, 6.
int exit_code(const std::vector<CaseResult>& cases);

nlohmann::json to_json(const Result& result);
Result result_from_json(const nlohmann::json& json);  // throws std::invalid_argument

void to_json(nlohmann::json& json, const Figure& figure);
void from_json(const nlohmann::json& json, Figure& figure);

nlohmann::json to_json(const Environment& environment);
Environment environment_from_json(const nlohmann::json& json);  // throws std::invalid_argument

nlohmann::json to_json(const CaseResult& test);
CaseResult case_from_json(const nlohmann::json& json);  // throws std::invalid_argument

}  // namespace ringcheck::reports
