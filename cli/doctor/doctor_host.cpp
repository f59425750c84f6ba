// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_host.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "cli/doctor/probe.h"

namespace ringcheck::cli {
namespace {

int64_t whole(double bytes) { return static_cast<int64_t>(bytes); }

constexpr double kMebi = 1 << 20, kGibi = 1 << 30;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The smaller of two limits, either of which may not exist.
std::optional<double> tighter(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

struct Cgroup {
  std::optional<double> cores, bytes;
};

// Version 2: this process's group and all above it. Version 1: where containers have theirs.
Cgroup cgroup() {
  Cgroup limits;
  const std::filesystem::path root = "/sys/fs/cgroup";
  for (const std::string& line : lines_of(content("/proc/self/cgroup"))) {
    if (!line.starts_with("0::/"))
      continue;
    for (auto group = root / line.substr(4);; group = group.parent_path()) {
      limits.cores = tighter(limits.cores, parse_quota(content(group / "cpu.max")));
      limits.bytes = tighter(limits.bytes, parse_limit(content(group / "memory.max")));
      if (group == root || !group.has_relative_path())
        break;
    }
  }
  const std::string quota = boost::algorithm::trim_copy(content(root / "cpu/cpu.cfs_quota_us")),
                    period = boost::algorithm::trim_copy(content(root / "cpu/cpu.cfs_period_us"));
  limits.cores = tighter(limits.cores, parse_quota(quota + " " + period));
  limits.bytes = tighter(limits.bytes, parse_limit(content(root / "memory/memory.limit_in_bytes")));
  return limits;
}

double memory_line(const std::string& name) {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(name + ":"))
      return std::strtod(line.c_str() + name.size() + 1, nullptr) * 1024;
  return 0;
}

void examine_cores(Examined& seen, const Cgroup& limits) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  const int own = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
  seen.facts["cores_available"] = own;
  if (limits.cores)
    seen.facts["cores_quota"] = *limits.cores;
  if (limits.cores && *limits.cores < own)
    seen.add({"host.cores", Severity::kWarning, "cores",
              std::to_string(own) + ", but the container may use " + short_number(*limits.cores) +
                  " of them: ranks are stopped in the middle, times jump",
              "raise the container's limit (docker run --cpus, Kubernetes limits.cpu), or pin it "
              "(--cpuset-cpus)"});
  else if (own == 1)
    seen.add({"host.cores", Severity::kWarning, "cores", "1: ranks take turns, times say little",
              "give this process more cores (taskset, Slurm --cpus-per-task)"});
  else
    seen.add({"host.cores", Severity::kOk, "cores", std::to_string(own) + " available", ""});
}

void examine_memory(Examined& seen, const Cgroup& limits) {
  const double total = memory_line("MemTotal"), available = memory_line("MemAvailable");
  const double limit = tighter(limits.bytes, total).value_or(total);
  seen.facts["memory_bytes"] = whole(total);
  seen.facts["memory_available_bytes"] = whole(available);
  seen.facts["memory_limit_bytes"] = whole(limit);
  std::string text = gibibytes(available) + " of " + gibibytes(total) + " available";
  if (limit < total)
    text += ", the container may use " + gibibytes(limit);
  if (std::min(limit, available) < 2 * kGibi)
    seen.add({"host.memory", Severity::kWarning, "memory", text + ": large cases may be killed",
              "end other programs, raise the container's limit (docker run --memory), or choose "
              "smaller --seq"});
  else
    seen.add({"host.memory", Severity::kOk, "memory", text, ""});
}

void examine_shared_memory(Examined& seen) {
  const std::string fix =
      "docker run --shm-size=1g or --ipc=host; elsewhere mount -o remount,size=1G /dev/shm";
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) != 0)
    return seen.add({"host.shm", Severity::kWarning, "/dev/shm",
                     "missing: NCCL and MPI have no shared memory", "mount -t tmpfs shm /dev/shm"});
  const double size = static_cast<double>(shm.f_blocks) * static_cast<double>(shm.f_frsize);
  const double free = static_cast<double>(shm.f_bavail) * static_cast<double>(shm.f_frsize);
  seen.facts["shm_bytes"] = whole(size);
  seen.facts["shm_free_bytes"] = whole(free);
  const std::string text =
      short_number(free / kMebi) + " of " + short_number(size / kMebi) + " MiB free";
  if (free < 64 * kMebi && size > 64 * kMebi)
    seen.add({"host.shm", Severity::kWarning, "/dev/shm", text + ": NCCL and MPI need it",
              "remove what dead runs left (ls -l /dev/shm), or enlarge it: " + fix});
  else if (size <= 64 * kMebi)
    seen.add(
        {"host.shm", Severity::kWarning, "/dev/shm", text + ": too little for NCCL and MPI", fix});
  else
    seen.add({"host.shm", Severity::kOk, "/dev/shm", text, ""});
}

// Nothing where there is no limit.
std::optional<double> soft_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

void examine_limits(Examined& seen) {
  const auto locked = soft_limit(RLIMIT_MEMLOCK), files = soft_limit(RLIMIT_NOFILE);
  if (locked)
    seen.facts["locked_memory_bytes"] = whole(*locked);
  if (files)
    seen.facts["open_files"] = whole(*files);
  if (locked)
    seen.add({"host.memlock", Severity::kNote, "locked memory",
              short_number(*locked / kMebi) + " MiB: enough on one machine, not for InfiniBand",
              "ulimit -l unlimited (docker run --ulimit memlock=-1)"});
  else
    seen.add({"host.memlock", Severity::kOk, "locked memory", "unlimited", ""});
  const std::string count = files ? short_number(*files) : "unlimited";
  if (files && *files < 1024)
    seen.add({"host.files", Severity::kWarning, "open files",
              count + ": NCCL and MPI open several for each pair of ranks",
              "ulimit -n 65536 (docker run --ulimit nofile=65536)"});
  else
    seen.add({"host.files", Severity::kOk, "open files", count, ""});
}

}  // namespace

std::optional<double> parse_quota(const std::string& text) {
  std::istringstream stream(text);
  double quota = 0, period = 0;
  if (!(stream >> quota >> period) || quota <= 0 || period <= 0)
    return std::nullopt;
  return quota / period;
}

std::optional<double> parse_limit(const std::string& text) {
  std::istringstream stream(text);
  double bytes = 0;
  if (!(stream >> bytes) || bytes <= 0)
    return std::nullopt;
  return bytes;
}

double host_memory() {
  const double total = memory_line("MemTotal");
  return tighter(cgroup().bytes, total).value_or(total);
}

Examined examine_host() {
  Examined seen;
  const Cgroup limits = cgroup();
  examine_cores(seen, limits);
  examine_memory(seen, limits);
  examine_shared_memory(seen);
  examine_limits(seen);
  return seen;
}

}  // namespace ringcheck::cli
