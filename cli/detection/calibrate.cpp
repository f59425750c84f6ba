// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// ringcheck calibrate: what RMS z and bias are, over many seeds, where a kernel is right, and how
// it adds up and exponentiates on this hardware.
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/subcommand.h"
#include "cp/device/cuda_library.h"
#include "parity/judge/arithmetic.h"
#include "parity/subject/contract.h"
#include "parity/judge/runner.h"
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

struct Series {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
  double standard_deviation() const {
    double sum = 0;
    for (const double v : values) sum += (v - mean()) * (v - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
};

double rounded(double value) { return std::round(value * 1e5) / 1e5; }

nlohmann::json calibrated(parity::Case test, int seeds) {
  std::map<std::string, Series> rms, bias;
  parity::RunOptions options;
  options.judging.oracles = {"parity"};
  for (int seed = 0; seed < seeds; ++seed) {
    test.seed = 1000 + static_cast<uint64_t>(seed);
    for (const auto& oracle : parity::verify(test, options).oracles)
      for (const auto& tensor : oracle.tensors) {
        if (tensor.tensor == "lse") continue;  // never rounded to 16 bits
        rms[tensor.tensor].values.push_back(tensor.rms_z);
        bias[tensor.tensor].values.push_back(std::abs(tensor.bias));
      }
  }
  nlohmann::json charts;
  for (const auto& [tensor, series] : rms)
    charts[tensor] = {{"rms_mean", rounded(series.mean())},
                      {"rms_sd", rounded(series.standard_deviation())},
                      {"bias_mean", rounded(bias[tensor].mean())},
                      {"bias_sd", rounded(bias[tensor].standard_deviation())}};
  return charts;
}

// Of one dtype; throws UsageError where the kernel is coarser than its contract says.
parity::Arithmetic arithmetic_in(const std::string& dtype, const Options& options) {
  parity::Case test = parity::parse_case(dtype + "/full/P1/s256/d64");
  test.kernel = options.kernel;
  test.device = options.device;
  if (const auto reason = parity::not_supported(test)) throw UsageError(*reason);
  const parity::Arithmetic found = parity::arithmetic_of(*AttentionKernels::at(options.kernel),
                                                         test.dtype, c10::Device(options.device));
  std::cerr << "sums in " << dtype << " keep " << found.bits << " bits, "
            << (found.chops ? "chopped" : "rounded") << "; LSE within " << found.lse_error
            << " roundoffs\n";
  const std::string who = "kernel " + options.kernel + " in " + dtype;
  if (!std::isfinite(found.lse_error)) throw UsageError(who + " gives an LSE that is not finite");
  if (found.roundoff() > parity::contract_of(test).u_a)
    throw UsageError(who + " adds up with roundoff 2^" +
                     std::to_string(std::ilogb(found.roundoff())) +
                     ", more than the u_a of its contract; correct the contract first");
  return found;
}

// By dtype; says where this hardware differs from what was measured on its kind before.
nlohmann::json arithmetic(const Options& options, const nlohmann::json& known) {
  nlohmann::json all;
  for (const auto& [dtype, promised] : parity::contract_json(options.kernel).at("dtypes").items()) {
    const parity::Arithmetic found = arithmetic_in(dtype, options);
    all[dtype] = {{"sum_bits", found.bits},
                  {"chops", found.chops},
                  {"lse_error", std::round(found.lse_error * 100) / 100}};
    if (known.contains(dtype) && known.at(dtype) != all[dtype])
      std::cerr << "numerics changed: " << known.at(dtype) << " -> " << all[dtype] << "\n";
  }
  return all;
}

int run(const Options& options) {
  if (options.seeds < 20) throw UsageError("--seeds " + std::to_string(options.seeds) +
                                           ": a calibration needs at least 20");
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
  for (const parity::Case& test : list) {
    std::cerr << "calibrating " << parity::chart_key(test) << "\n";
    charts[parity::chart_key(test)] = calibrated(test, options.seeds);
  }
  reports::write_file(options.file, contract.dump(2) + "\n");
  return 0;
}

const Subcommands::Add add("calibrate", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("measures the charts of a kernel's numerics contract");
  program.add_option("--kernel", options->kernel, "the kernel, known to be right")
      ->capture_default_str();
  program.add_option("--device", options->device, "cpu or cuda: its charts are measured anew")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  program.add_option("--seeds", options->seeds, "how many seeds a shape")->capture_default_str();
  program.add_option("--contract", options->file, "the contract file to write")->required();
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
