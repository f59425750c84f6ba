// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// ringcheck calibrate: what RMS z and bias are, over many seeds, where a kernel is right, and how
// it adds up and exponentiates on this hardware, in the constants of its contract.
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/detection/contract_file.h"
#include "cli/environment.h"
#include "cli/progress.h"
#include "cli/subcommand.h"
#include "cp/device/cuda_library.h"
#include "parity/judge/calibration/charts.h"
#include "parity/judge/calibration/constants.h"
#include "parity/judge/runner.h"
#include "parity/subject/ours.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

struct Options {
  std::string kernel = "plain", device = "cpu", file;
  int seeds = 24;
};

// The calibration shapes: on a CPU where the rounding of the outputs to 16 bits rules the error, so
// that it does not depend on how this machine's matrix products add up. On a GPU the architecture
// says how they do.
std::vector<parity::Case> shapes(const Options& options) {
  const nlohmann::json& known = parity::contract_json(options.kernel).at("dtypes");
  std::vector<parity::Case> list;
  for (const char* dtype : {"bf16", "fp16", "float32"})
    for (const char* mask : {"causal", "full"})
      for (const char* data : {"spread3", "normal"}) {
        parity::Case test = parity::parse_case(std::string(dtype) + "/" + mask + "/" + data);
        test.kernel = options.kernel;
        test.device = options.device;
        const bool rounded = test.dtype != at::kFloat;
        if (known.contains(dtype) && (rounded || options.device != "cpu")) list.push_back(test);
      }
  return list;
}

nlohmann::json to_json(const std::map<std::string, parity::Chart>& charts) {
  const auto rounded = [](double value) { return std::round(value * 1e5) / 1e5; };
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [tensor, chart] : charts)
    json[tensor] = {{"rms_mean", rounded(chart.rms_mean)},
                    {"rms_sd", rounded(chart.rms_sd)},
                    {"bias_mean", rounded(chart.bias_mean)},
                    {"bias_sd", rounded(chart.bias_sd)}};
  return json;
}

parity::Arithmetic arithmetic_in(const std::string& dtype, const Options& options) {
  parity::Case test = parity::parse_case(dtype + "/full/P1/s256/d64");
  test.kernel = options.kernel;
  test.device = options.device;
  if (const auto reason = parity::not_supported(test)) throw UsageError(*reason);
  const parity::Arithmetic found = parity::arithmetic_of(*AttentionKernels::at(options.kernel),
                                                         test.dtype, c10::Device(options.device));
  if (!std::isfinite(found.lse_error))
    throw UsageError("kernel " + options.kernel + " in " + dtype + " gives an LSE that is not finite");
  return found;
}

// By dtype; says where this hardware differs from what was measured on its kind before.
nlohmann::json arithmetic(const Options& options, const nlohmann::json& known) {
  const nlohmann::json& contract = parity::contract_json(options.kernel);
  nlohmann::json all;
  for (const auto& [dtype, promised] : contract.at("dtypes").items()) {
    all[dtype] = parity::measured_in(dtype, arithmetic_in(dtype, options), contract);
    std::cerr << dtype << ": " << all[dtype] << "\n";
    if (known.contains(dtype) && known.at(dtype) != all[dtype])
      std::cerr << "numerics changed: " << known.at(dtype) << " -> " << all[dtype] << "\n";
  }
  return all;
}

int run(const Options& options) {
  check_kernel_on(options.kernel, options.device);
  check_contract_file(options.file, options.kernel);
  reports::check_writable(options.file);
  const std::vector<parity::Case> list = shapes(options);
  for (const parity::Case& test : list) {
    parity::validate(test);
    if (const auto reason = parity::not_supported(test)) throw UsageError(*reason);
  }
  nlohmann::json contract = parity::contract_json(options.kernel);
  nlohmann::json& charts = contract["charts"];
  for (auto chart = charts.begin(); chart != charts.end();)
    chart = parity::parse_case(chart.key()).device == options.device ? charts.erase(chart)
                                                                      : std::next(chart);
  const std::string where = options.device == "cpu" ? "cpu" : gpu_architecture();
  if (where != "cpu") contract["architecture"] = where;
  const reports::Environment here = environment();
  contract["calibrated"][where] = {{"version", here.version}, {"commit", here.commit},
                                   {"cpu", here.cpu}, {"started", here.started}};
  nlohmann::json& measured = contract["measured"][where];
  measured = arithmetic(options, measured);
  parity::take_constants(contract);
  Progress progress(list.size() * static_cast<size_t>(options.seeds), "runs");
  for (const parity::Case& test : list) {
    progress.say("calibrating " + parity::chart_key(test));
    const parity::SharedSubject subject = parity::ours_with(
        parity::context_parallel,
        [&](parity::Promise& promise) { parity::promise_constants(contract, test.dtype, promise); });
    charts[parity::chart_key(test)] =
        to_json(parity::measured_charts(test, options.seeds, *subject,
                                        [&] { progress.advance(true); }));
  }
  reports::write_file(options.file, contract.dump(2) + "\n");
  std::cout << "calibrated: " << list.size() << " charts of " << options.seeds << " runs each in "
            << options.file << std::endl;
  return 0;
}

const Subcommands::Add add("calibrate", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("measures the charts of a kernel's numerics contract");
  program.add_option("--kernel", options->kernel, "the kernel, known to be right")
      ->check(not_empty())
      ->capture_default_str();
  program.add_option("--device", options->device, "cpu or cuda: its charts are measured anew")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  program.add_option("--seeds", options->seeds, "how many seeds a shape")
      ->check(CLI::Range(parity::kFewestSeeds, 100000))
      ->capture_default_str();
  program.add_option("--contract", options->file, "the contract file to write")
      ->check(not_empty())
      ->required();
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
