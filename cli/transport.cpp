// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/transport.h"

#include <algorithm>

#include "cli/usage_error.h"
#include "cp/device/cuda_library.h"
#include "cp/worlds/launcher.h"
#include "cp/worlds/session.h"

namespace ringcheck::cli {
namespace {

bool has_use_for_transport(const parity::Case& test) {
  return test.world_kind == "mpi" && test.device == "cuda";
}

std::string known() {
  std::string names;
  for (const char* name : kGpuTransports) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

std::string transport_help() {
  return "what carries messages between the GPUs of processes: nccl, a GPU a rank; ipc, copies "
         "between processes of one host, which may share GPUs; default: " +
         std::string(kUsualGpuTransport);
}

void check_transport(const std::string& transport, const std::vector<parity::Case>& cases) {
  if (transport.empty()) return;
  if (std::ranges::find(kGpuTransports, transport) == kGpuTransports.end())
    throw UsageError("--transport '" + transport + "' is unknown; known: " + known());
  if (std::ranges::none_of(
          cases, [](const parity::Case& test) { return has_use_for_transport(test); }))
    throw UsageError("--transport " + transport +
                     " is between the GPUs of processes, and no case has such; say --world-kind mpi "
                     "and --device cuda, or leave it out: threads copy from GPU to GPU themselves");
}

bool has_use_for_transport(const std::map<std::string, std::string>& parts) {
  const auto is = [&](const char* part, const char* value) {
    const auto found = parts.find(part);
    return found != parts.end() && found->second == value;
  };
  return is("world_kind", "mpi") && is("device", "cuda");
}

std::optional<std::string> lacks_gpus(const parity::Case& test, const std::string& transport) {
  if (!has_use_for_transport(test)) return std::nullopt;
  if (why_no_cuda()) return why_no_cuda();
  if (transport == "ipc") return std::nullopt;  // ranks may share one
  const auto lack = ringcheck::lacks_gpus(test.world);
  return lack ? std::optional(*lack + "; over --transport ipc ranks may share one") : std::nullopt;
}

bool passes_between_gpus(const std::vector<parity::Case>& cases, const std::string& transport) {
  return std::ranges::any_of(
      cases, [&](const parity::Case& test) { return has_use_for_transport(test) && !lacks_gpus(test, transport); });
}

std::string transport_or_usual(const std::string& transport) {
  return transport.empty() ? kUsualGpuTransport : transport;
}

void note_transport(const std::string& transport, std::map<std::string, std::string>& parts) {
  if (transport != kUsualGpuTransport) parts["transport"] = transport;
}

void note_transport(const std::string& transport, reports::CaseResult& test) {
  note_transport(transport, test.parts);
  if (transport != kUsualGpuTransport) test.name += " over " + transport;
}

std::string transport_name(const std::string& transport) {
  return transport_or_usual(transport) == "ipc" ? "CUDA IPC" : "NCCL";
}

std::string transport_text(const std::string& transport, const Launcher& launcher,
                           const std::vector<parity::Case>& cases) {
  const std::string boot = launcher.place.empty() ? "MPI" : "TCP store";
  if (!parity::any_on_cuda(cases)) return boot + ", a process a rank";
  return transport_name(transport) + " over " + boot +
         (transport_or_usual(transport) == "ipc" ? ", a process a rank" : ", a process and a GPU a rank");
}

}  // namespace ringcheck::cli
