// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/kept/tally_file.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <exception>
#include <filesystem>

#include "parity/case/safetensors.h"
#include "parity/judge/comparison.h"
#include "parity/subject/checks/mixed_sum.h"

namespace ringcheck::parity {
namespace {

// A tally has as many members as are named here, or this does not compile.
template <typename Of, typename Number, typename Sums>
void members(Of& tally, const Number& number, const Sums& sums) {
  auto& [max_abs, hard_ratio, max_z, worst_position, z_squares, error_squares, value_squares, compared, elements, signed_z, energy,
         vacuous, hard, stat] = tally;
  for (auto* x : {&max_abs, &hard_ratio, &max_z, &z_squares, &error_squares, &value_squares}) number(*x);
  number(worst_position);
  for (auto* worst : {&hard, &stat}) {
    auto& [ratio, pair, shared, position, channel, actual, value, bound, sigma] = *worst;
    for (auto* x : {&ratio, &actual, &value, &bound, &sigma}) number(*x);
    for (auto* x : {&pair, &shared, &position, &channel}) number(*x);
  }
  for (auto* x : {&compared, &elements, &signed_z, &energy, &vacuous}) sums(*x);
}

at::Tensor tensor_of(const std::vector<double>& numbers) { return at::tensor(numbers, at::kDouble); }

std::vector<double> numbers_of(const at::Tensor& x) {
  const double* first = x.const_data_ptr<double>();
  return {first, first + x.numel()};
}

// Of shapes [numbers] and [sums, positions].
std::pair<at::Tensor, at::Tensor> tensors_of(const Tally& tally) {
  std::vector<double> numbers;
  std::vector<at::Tensor> sums;
  members(tally, [&](const auto& x) { numbers.push_back(static_cast<double>(x)); },
          [&](const std::vector<double>& x) { sums.push_back(tensor_of(x)); });
  return {tensor_of(numbers), at::stack(sums)};
}

Tally tally_of(const at::Tensor& numbers, const at::Tensor& sums) {
  Tally tally;
  int64_t i = 0, row = 0;
  const std::vector<double> all = numbers_of(numbers);
  members(tally, [&](auto& x) { x = static_cast<std::remove_reference_t<decltype(x)>>(all.at(i++)); },
          [&](std::vector<double>& x) { x = numbers_of(sums[row++].contiguous()); });
  return tally;
}

// All that the file says.
std::string trace_of(const Safetensors& content) {
  std::string traces = content.metadata.at("seconds") + "\n";
  for (const auto& [name, x] : content.tensors)
    traces += c10::str(name, " ", x.scalar_type(), " ", x.sizes(), " ", mixed_sum(x).item<int64_t>(), "\n");
  return traces;
}

std::string sums_of(const NamedTensor& named) { return std::string(named.name) + " by position"; }

}  // namespace

std::optional<KeptTallies> read_tallies(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    const Safetensors content = read_safetensors(path);
    if (content.metadata.at("trace") != trace_of(content)) return std::nullopt;
    KeptTallies kept{{}, std::stod(content.metadata.at("seconds"))};
    for (const NamedTensor& named : kTensors)
      kept.tallies.push_back(content.tensors.contains(named.name)
                                 ? tally_of(content.tensors.at(named.name), content.tensors.at(sums_of(named)))
                                 : Tally());
    return kept;
  } catch (const std::exception&) {  // damaged, in whatever way
    return std::nullopt;
  }
}

void write_tallies(const std::string& path, const KeptTallies& kept) {
  Safetensors content;
  for (size_t i = 0; i < kept.tallies.size(); ++i) {
    if (kept.tallies[i].compared.empty()) continue;  // it was not judged
    const auto [numbers, sums] = tensors_of(kept.tallies[i]);
    content.tensors[kTensors[i].name] = numbers;
    content.tensors[sums_of(kTensors[i])] = sums;
  }
  content.metadata["seconds"] = std::to_string(kept.seconds);
  content.metadata["trace"] = trace_of(content);
  write_safetensors(path, content);
}

}  // namespace ringcheck::parity
