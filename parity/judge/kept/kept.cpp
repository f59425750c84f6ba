// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/kept/kept.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cp/clock.h"
#include "parity/case/safetensors.h"
#include "parity/case/text.h"
#include "parity/judge/comparison.h"
#include "parity/judge/kept/tally_file.h"
#include "parity/subject/checks/mixed_sum.h"
#include "parity/subject/files/manifest.h"
#include "parity/subject/files/promise_json.h"
#include "version.h"

namespace ringcheck::parity {
namespace {

namespace fs = std::filesystem;

// Of a build whose files differ from its commit, too.
std::string this_program() {
  std::error_code unknown;
  const auto written = fs::last_write_time("/proc/self/exe", unknown);
  return c10::str(version(), " ", commit(), " ", unknown ? 0 : written.time_since_epoch().count());
}

std::vector<int64_t> traces(const std::vector<at::Tensor>& bits) {
  std::vector<int64_t> list;
  for (const at::Tensor& x : bits) list.push_back(x.defined() ? mixed_sum(x.contiguous()).item<int64_t>() : 0);
  return list;
}

}  // namespace

Kept::Kept(const std::string& folder, const Case& test, const Promise& promise)
    : folder_(folder), all_(test.batch * test.kv_heads) {
  if (!folder.empty()) about_ = this_program() + "\n" + to_text(test) + "\n" + to_json(promise).dump() + "\n";
}

std::vector<Tally> Kept::operator()(reference::Range pairs, const std::function<std::vector<at::Tensor>()>& bits,
                                    const std::function<std::vector<Tally>()>& judge) {
  if (folder_.empty()) return judge();
  const std::string about = c10::str(about_, pairs.begin, "+", pairs.size, "\n", c10::Join(",", traces(bits())));
  const std::string path = (fs::path(folder_) / (checksum(about) + ".safetensors")).string();
  if (auto before = read_tallies(path)) {
    found_ += pairs.size;
    seconds_ += before->seconds;
    return before->tallies;
  }
  const auto begin = Clock::now();
  std::vector<Tally> tallies = judge();
  write_tallies(path, {tallies, seconds_since(begin)});
  return tallies;
}

std::optional<std::string> Kept::found() const {
  if (found_ == 0) return std::nullopt;
  return c10::str("of ", all_, " pairs of a batch entry and a key-value head ", found_.load(),
                  " were judged before, of the same bits, which took ", static_cast<int64_t>(seconds_.load()), " s");
}

}  // namespace ringcheck::parity
