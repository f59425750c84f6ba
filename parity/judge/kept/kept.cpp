// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/kept/kept.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <c10/util/StringUtil.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cp/clock.h"
#include "cp/device/cuda_library.h"
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

// What last bits of float64 depend on. When the program was written tells builds of one commit apart, whose files may differ from it.
std::string this_judge(const Case& test) {
  std::error_code unknown;
  const auto written = fs::last_write_time("/proc/self/exe", unknown);
  return c10::str(version(), " ", commit(), " ", unknown ? 0 : written.time_since_epoch().count(), " ",
                   at::get_cpu_capability(), " ", test.device == "cpu" ? "" : gpu_architecture());
}

std::string traces_of(const std::vector<at::Tensor>& bits) {
  std::string traces;
  for (const at::Tensor& x : bits)
    traces += x.defined() ? c10::str(x.scalar_type(), " ", mixed_sum(x.contiguous()).item<int64_t>(), "\n") : "none\n";
  return traces;
}

}  // namespace

Kept::Kept(const std::string& folder, const Case& test, const Promise& promise)
    : folder_(folder), all_(test.batch * test.kv_heads) {
  if (!folder.empty()) about_ = this_judge(test) + "\n" + to_text(test) + "\n" + to_json(promise).dump() + "\n";
}

std::vector<Tally> Kept::operator()(reference::Range pairs, const reference::Tiling& tiling,
                                    const std::function<std::vector<at::Tensor>()>& bits,
                                    const std::function<std::vector<Tally>()>& judge) {
  if (folder_.empty()) return judge();
  const std::string about = c10::str(about_, pairs.begin, "+", pairs.size, " in tiles of ", tiling.rows, " x ", tiling.columns, ", ",
                                     tiling.together, "\n", traces_of(bits()));
  const std::string path = (fs::path(folder_) / (checksum(about) + ".safetensors")).string();
  if (auto before = read_tallies(path)) {
    const std::lock_guard lock(telling_);
    known_ += pairs.size;
    seconds_ += before->seconds;
    return before->tallies;
  }
  const auto begin = Clock::now();
  std::vector<Tally> tallies = judge();
  try {
    write_tallies(path, {tallies, seconds_since(begin)});
  } catch (const BadCase& error) {  // what was judged is judged
    const std::lock_guard lock(telling_);
    if (unwritten_.empty()) unwritten_ = error.what();
  }
  return tallies;
}

std::vector<std::string> Kept::said() const {
  const std::lock_guard lock(telling_);
  std::vector<std::string> lines;
  if (known_ > 0)
    lines.push_back(c10::str("of ", all_, " pairs of a batch entry and a key-value head ", known_,
                             " were judged before, of the same bits, which took ", static_cast<int64_t>(seconds_), " s"));
  if (!unwritten_.empty()) lines.push_back("not all that was judged is kept: " + unwritten_);
  return lines;
}

}  // namespace ringcheck::parity
