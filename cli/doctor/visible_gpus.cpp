// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/visible_gpus.h"

#include <stdlib.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <regex>
#include <sstream>

#include "cli/process/programs.h"

namespace ringcheck::cli {
namespace {

constexpr double kMebi = 1 << 20, kGibi = 1 << 30;

bool is_mig(const Row& gpu) { return value(gpu, "mig.mode.current") == "Enabled"; }

// An instance belongs to a GPU that is not known here: it is any of those that have some.
bool is_named(const Row& gpu, const std::string& name) {
  if (name.starts_with("MIG-")) return is_mig(gpu);
  return value(gpu, "index") == name || (name.starts_with("GPU-") && value(gpu, "uuid").value_or("").starts_with(name));
}

std::vector<Row> shown(const std::vector<Row>& gpus, const std::optional<std::string>& named) {
  if (!named) return gpus;
  std::vector<Row> seen;
  std::istringstream names(*named);
  for (std::string name; std::getline(names, name, ',');) {
    boost::algorithm::trim(name);
    const auto gpu = std::ranges::find_if(gpus, [&](const Row& row) { return is_named(row, name); });
    if (gpu == gpus.end()) break;
    seen.push_back(*gpu);
  }
  return seen;
}

// "MIG 1g.10gb Device 0: (UUID: MIG-...)", a line each.
std::optional<double> smallest_instance(const std::string& listed) {
  static const std::regex instance(R"(MIG \S*?(\d+)gb)");
  std::optional<double> least;
  for (std::sregex_iterator found(listed.begin(), listed.end(), instance), end; found != end; ++found) {
    const double bytes = std::stod((*found)[1]) * kGibi;
    least = std::min(least.value_or(bytes), bytes);
  }
  return least;
}

std::optional<double> bytes_of(const Row& gpu, const std::string& listed) {
  if (is_mig(gpu)) return smallest_instance(listed);
  const std::optional<double> mebi = number(gpu, "memory.total");
  return mebi ? std::optional(*mebi * kMebi) : std::nullopt;
}

}  // namespace

VisibleGpus visible_of(const std::vector<Row>& gpus, const std::optional<std::string>& named, const std::string& listed) {
  VisibleGpus result;
  for (const Row& gpu : shown(gpus, named)) {
    ++result.count;
    result.by_one_only |= value(gpu, "compute_mode").value_or("").starts_with("Exclusive");
    if (const auto bytes = bytes_of(gpu, listed)) result.memory = std::min(result.memory.value_or(*bytes), *bytes);
  }
  return result;
}

VisibleGpus visible_gpus() {
  const auto path = find_program("nvidia-smi");
  if (!path) return {};
  const Smi smi{*path};
  const std::vector<Row> gpus =
      smi.query("gpu", {"index", "uuid", "compute_mode", "memory.total", "mig.mode.current"}).rows;
  const char* named = ::getenv("CUDA_VISIBLE_DEVICES");
  return visible_of(gpus, named == nullptr ? std::nullopt : std::optional<std::string>(named),
                    std::ranges::any_of(gpus, is_mig) ? smi.ask({"-L"}).text : "");
}

}  // namespace ringcheck::cli
