// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bundle/bundle.h"

#include <ATen/Version.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "cli/environment.h"
#include "cli/to_result.h"
#include "cp/device/cuda_library.h"
#include "cp/words.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kDigits = 12;

size_t bundles_in(const std::string& folder) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    count += entry.path().filename().string().starts_with(".") ? 0 : 1;
  return count;
}

bool is_too_much(const parity::Recording& recording) {
  const parity::Case& test = recording.test;
  const double scores = static_cast<double>(test.batch * test.q_heads) *
                        static_cast<double>(test.seq) * static_cast<double>(test.seq);
  return bytes_of(recording) > kMostBundleBytes || (test.device != "cpu" && scores > kMostGpuScores);
}

// The verdict of what is in the files: of a run on a GPU, which was judged there, that on the CPU.
reports::CaseResult result_of(const parity::Recording& recording, const parity::Verdict& verdict) {
  return to_result(recording.test.device == "cpu" ? verdict : judged(recording));
}

void write_bundle(const std::string& path, const parity::Recording& recording,
                  const reports::CaseResult& result) {
  const std::string temporary = fs::path(path).parent_path() / ("." + bundle_name(result.name) + "." +
                                                                std::to_string(::getpid()));
  fs::create_directory(temporary);
  try {
    json content = write_recording(temporary, recording);
    reports::Environment here = environment();
    here.command = result.reproduce;
    if (recording.test.device != "cpu") here.device = describe_gpus();
    content["result"] = reports::to_json(result);
    content["environment"] = reports::to_json(here);
    content["cpu_capability"] = at::get_cpu_capability();
    parity::write_manifest(temporary, kBundle, std::move(content));
    fs::rename(temporary, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
}

}  // namespace

std::string bundle_name(const std::string& test) { return parity::checksum(test).substr(0, kDigits); }

std::function<void(const parity::Trial&, const parity::Observed&, const parity::Verdict&)> keep_in(
    const std::string& folder) {
  return [folder](const parity::Trial& trial, const parity::Observed& observed,
                  const parity::Verdict& verdict) {
    try {
      const std::string path = folder + "/" + bundle_name(to_text(trial.test));
      if (fs::exists(path) || bundles_in(folder) >= kMostBundles) return;
      const parity::Recording recording = recording_of(trial, observed);
      if (is_too_much(recording)) return;
      write_bundle(path, recording, result_of(recording, verdict));
    } catch (const std::exception& error) {  // the verdict is not lost
      std::cerr << "no bundle of " << to_text(trial.test) << ": " << words_of(error) << std::endl;
    }
  };
}

Bundle read_bundle(const std::string& folder) {
  Bundle bundle;
  bundle.manifest = parity::read_manifest(folder, kBundle);
  parity::check_files(folder, kBundle, bundle.manifest);
  try {
    bundle.recording = parity::read_recording(folder, bundle.manifest);
    reports::case_from_json(bundle.manifest.at("result"));
    reports::environment_from_json(bundle.manifest.at("environment"));
    bundle.manifest.at("cpu_capability").get<std::string>();
  } catch (const parity::BadCase&) {
    throw;
  } catch (const std::exception& error) {
    throw parity::BadCase("'" + folder + "' has a manifest that is not what its version says: " +
                          words_of(error) + "; give a folder as " + kBundle.made_by + " writes it");
  }
  return bundle;
}

}  // namespace ringcheck::cli
