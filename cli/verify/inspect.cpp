// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/inspect.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ranges>

#include "cli/process/folder.h"
#include "cli/process/process.h"
#include "cli/process/programs.h"
#include "cli/subcommand.h"
#include "parity/case/safetensors.h"

namespace ringcheck::cli {
namespace {

using nlohmann::json;
using parity::BadCase;

constexpr int kLongestReading = 600;  // seconds

std::string shape_text(const at::Tensor& x) { return c10::str(x.sizes()); }

const at::Tensor& tensor(const parity::Safetensors& file, const std::string& path,
                         const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found != file.tensors.end())
    return found->second;
  throw BadCase("'" + path + "' has no tensor '" + name +
                "'" + (file.tensors.empty() ? "" : ", only: ") + c10::Join(", ", std::views::keys(file.tensors)) +
                "; want q, k and v, and perhaps do");
}

void check_values(const std::string& path, const std::string& name, const at::Tensor& x) {
  const at::Tensor bad = at::nonzero(at::logical_not(at::isfinite(x)));
  if (bad.size(0) == 0)
    return;
  const at::Tensor first = bad[0];
  throw BadCase("tensor '" + name + "' in '" + path + "' holds " +
                (bad.size(0) == 1 ? "a value" : std::to_string(bad.size(0)) + " values") +
                " that are NaN or infinite, the first at " +
                c10::str(c10::IntArrayRef(first.data_ptr<int64_t>(), first.numel())) +
                " of [batch, head, position, channel]; remove them");
}

void check_shape(const std::string& path, const std::string& name, const at::Tensor& x,
                 const std::vector<int64_t>& want) {
  if (x.sizes() != at::IntArrayRef(want))
    throw BadCase("tensor '" + name + "' in '" + path + "' has shape " + shape_text(x) + ", want " +
                  c10::str(at::IntArrayRef(want)) +
                  ": [batch, heads, seq, dim] with the batch, "
                  "seq and dim of q and k");
}

json inspection(const std::string& path) {
  if (path.find_first_of("[],'\n") != std::string::npos)
    throw BadCase("the name '" + path +
                  "' has a character that a case cannot hold ([ ] , '); "
                  "rename the file");
  const parity::Safetensors file = parity::read_safetensors(path);
  const at::Tensor q = tensor(file, path, "q"), k = tensor(file, path, "k"),
                   v = tensor(file, path, "v");
  for (const auto& [name, x] : {std::pair("q", q), {"k", k}, {"v", v}})
    if (x.dim() != 4 || x.numel() == 0)
      throw BadCase("tensor '" + std::string(name) + "' in '" + path + "' has shape " +
                    shape_text(x) + "; want four sizes, [batch, heads, seq, dim], none of them 0");
  check_shape(path, "k", k, {q.size(0), k.size(1), q.size(2), q.size(3)});
  check_shape(path, "v", v, {q.size(0), k.size(1), q.size(2), v.size(3)});
  std::map<std::string, at::Tensor> all{{"q", q}, {"k", k}, {"v", v}};
  if (file.tensors.count("do") > 0) {
    all["do"] = file.tensors.at("do");
    check_shape(path, "do", all["do"], {q.size(0), q.size(1), q.size(2), v.size(3)});
  }
  for (const auto& [name, x] : all) {
    if (!x.is_floating_point() || x.scalar_type() != q.scalar_type())
      throw BadCase("tensor '" + name + "' in '" + path + "' has dtype " +
                    c10::toString(x.scalar_type()) +
                    "; all must have the same one of float64, float32, bfloat16, float16");
    check_values(path, name, x);
  }
  return {{"batch", q.size(0)},
          {"q_heads", q.size(1)},
          {"kv_heads", k.size(1)},
          {"seq", q.size(2)},
          {"dim", q.size(3)},
          {"dim_v", v.size(3)},
          {"dtype", parity::dtype_text(q.scalar_type())}};
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

int print_inspection(const std::string& path) {
  try {
    std::cout << inspection(path).dump() << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cout << json{{"error", error.what()}}.dump(-1, ' ', false, json::error_handler_t::replace)
              << std::endl;
    return exit_codes::kUsage;
  }
}

void set_from_tensors(const std::string& path, parity::Case& test) {
  const TemporaryFolder folder;
  const std::string output = folder.file("inspection");
  Process worker({{own_path(), "worker", "--inspect", path}, {}, output});
  if (!worker.wait(kLongestReading))
    throw UsageError("'" + path + "' cannot be read: its reader did not end within " +
                     std::to_string(kLongestReading) + " s; is its disk at work?");
  const json facts = json::parse(text_of(output), nullptr, false);
  if (facts.is_discarded())
    throw UsageError("'" + path + "' cannot be read: " + worker.poll()->text() + " of its reader");
  if (facts.contains("error"))
    throw UsageError(facts["error"].get<std::string>());
  test.batch = facts.at("batch");
  test.q_heads = facts.at("q_heads");
  test.kv_heads = facts.at("kv_heads");
  test.seq = facts.at("seq");
  test.dim = facts.at("dim");
  test.dim_v = facts.at("dim_v");
  test.dtype = parity::parse_dtype(facts.at("dtype"));
  test.data = "tensors[" + path + "]";
}

}  // namespace ringcheck::cli
