// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/memory.h"

#include <cmath>

#include "cli/doctor/probe.h"

namespace ringcheck::cli {
namespace {

constexpr double kMebi = 1 << 20;
constexpr double kBase = 100 * kMebi;  // of a program with its libraries

// Of q, k, v and dO; o, dq, dk and dv have as many.
double elements_of(const parity::Case& test) {
  const double heads = static_cast<double>(test.q_heads) + static_cast<double>(test.kv_heads);
  return static_cast<double>(test.batch) * heads * static_cast<double>(test.seq) *
         static_cast<double>(test.dim + test.dim_v);
}

double element_bytes(const parity::Case& test) {
  return static_cast<double>(c10::elementSize(test.dtype));
}

// Inputs and results of a rank in the dtype, and the results before they were rounded to it.
double bytes_of_rank(const parity::Case& test) {
  const double wide = test.dtype == at::kDouble ? 8 : 4;
  return elements_of(test) / test.world * (2 * element_bytes(test) + wide);
}

std::string cannot(const std::string& whose, double needs, double has) {
  return "needs at least " + gibibytes(needs) + " of memory, " + whose + " has " + gibibytes(has) +
         "; use a smaller seq, batch, heads or dim";
}

}  // namespace

double least_bytes(const parity::Case& test, int ranks) {
  const double whole = 2 * elements_of(test) * element_bytes(test);  // problem and outcome
  const bool on_gpus = device_type_of(test) != at::kCPU;
  return kBase + whole + (on_gpus ? 0 : ranks * bytes_of_rank(test));
}

std::optional<std::string> too_large(const parity::Case& test, int ranks, const Memory& memory) {
  if (const double needs = least_bytes(test, ranks); memory.host > 0 && needs > memory.host)
    return cannot("this host", needs, memory.host);
  if (device_type_of(test) == at::kCPU || memory.gpus == 0 || memory.gpu == 0) return {};
  const double needs = std::ceil(static_cast<double>(ranks) / memory.gpus) * bytes_of_rank(test);
  if (needs > memory.gpu) return cannot("a GPU here", needs, memory.gpu);
  return {};
}

}  // namespace ringcheck::cli
