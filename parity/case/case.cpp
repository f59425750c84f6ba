// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/case.h"

#include <c10/util/StringUtil.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cp/attention/context_parallel.h"
#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "parity/case/data_family.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool one_of(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* known : names)
    if (name == known) return true;
  return false;
}

// The value of a part such as "hq8"; false where the part has another prefix.
bool sized(const std::string& part, const char* prefix, int64_t& value) {
  const std::string name = prefix;
  if (!starts_with(part, prefix) || part.size() == name.size() || !std::isdigit(part[name.size()]))
    return false;
  value = parse_size(part.substr(name.size()));
  return true;
}

uint64_t parse_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadCase("seed '" + text + "' is not a whole number below 2^64");
  return seed;
}

// What was said, beside the values: a part left out follows another one.
struct Parsed {
  Case test;
  std::set<std::string> said;
};

// Which part this is; it is stored in `parsed`.
std::string read_part(const std::string& part, Parsed& parsed) {
  Case& test = parsed.test;
  const std::string name = parse_call(part).name;
  int64_t number = 0;
  if (const size_t colon = name.find(':'); Strategies::all().count(name.substr(0, colon)) > 0) {
    test.strategy = name.substr(0, colon);
    if (colon != std::string::npos) parse_rotation(part.substr(colon + 1), test);
    return "strategy";
  }
  if (Balancers::all().count(name) > 0) return parse_balance(part, test), "balancer";
  if (AttentionKernels::all().count(part) > 0) return test.kernel = part, "kernel";
  if (one_of(name, {"full", "causal", "window", "doc", "docfull", "prefix"}))
    return test.mask = parse_mask(part), "mask";
  if (one_of(part, {"thread", "mpi"})) return test.world_kind = part, "world kind";
  if (one_of(part, {"cpu", "cuda"})) return test.device = part, "device";
  if (sized(part, "P", number)) return test.world = static_cast<int>(std::min<int64_t>(number, 1 << 20)), "world";
  if (sized(part, "b", test.batch)) return "batch";
  if (sized(part, "hq", test.q_heads)) return "heads";
  if (sized(part, "hkv", test.kv_heads)) return "kv-heads";
  if (starts_with(part, "seed")) return test.seed = parse_seed(part.substr(4)), "seed";
  if (sized(part, "s", test.seq)) return "seq";
  if (sized(part, "dv", test.dim_v)) return "dim-v";
  if (sized(part, "d", test.dim)) return "dim";
  if (starts_with(part, "rope:")) return test.rope = parse_rope(part.substr(5)), "rope";
  if (part == "scale:default") return test.scale.reset(), "scale";
  if (starts_with(part, "scale:")) return test.scale = parse_number(part.substr(6)), "scale";
  if (DataFamilies::all().contains(name) || name == "tensors") return test.data = part, "data";
  if (one_of(part, {"float64", "float32", "bf16", "fp16"})) return test.dtype = parse_dtype(part), "dtype";
  throw BadCase("case has a part '" + part + "' that means nothing; the form is "
                "ring:ROTATION/BALANCER/KERNEL/MASK/thread|mpi/cpu|cuda/P4/b1/hq8/hkv2/s1024/d64/dv64/"
                "bf16/rope:none/scale:default/spread3/seed7");
}

}  // namespace

std::string to_text(const Case& c) {
  std::string text = c.strategy + ":" + c.rotation + (c.keep ? "[keep]" : "") + "/" + c.balance;
  if (Balancers::at(c.balance).takes_block) text += "[" + std::to_string(c.block) + "]";
  return c10::str(text, "/", c.kernel, "/", mask_text(c.mask), "/", c.world_kind, "/", c.device, "/P",
                  c.world, "/b", c.batch, "/hq", c.q_heads, "/hkv", c.kv_heads, "/s", c.seq, "/d",
                  c.dim, "/dv", c.dim_v, "/", dtype_text(c.dtype), "/rope:", rope_text(c.rope),
                  "/scale:", c.scale ? number_text(*c.scale) : "default", "/", c.data, "/seed", c.seed);
}

Case parse_case(const std::string& text) {
  Parsed parsed;
  for (const std::string& part : split(text, '/')) {
    const std::string what = read_part(part, parsed);
    if (!parsed.said.insert(what).second)
      throw BadCase("case '" + text + "' says its " + what + " twice, the second time '" + part + "'");
  }
  Case& test = parsed.test;
  if (parsed.said.count("dim-v") == 0) test.dim_v = test.dim;
  if (parsed.said.count("kv-heads") == 0 && parsed.said.count("heads") > 0)
    test.kv_heads = test.q_heads;
  const Mask mask = mask_of(test);
  if (const Documents* packed = documents(mask); packed && parsed.said.count("seq") == 0)
    test.seq = slots_of(*packed);
  validate(test);
  return test;
}

nlohmann::json to_json(const Case& c) {
  return {{"strategy", c.strategy},     {"rotation", c.rotation}, {"keep", c.keep},
          {"balance", c.balance},       {"block", c.block},       {"kernel", c.kernel},
          {"mask", mask_text(c.mask)},  {"world_kind", c.world_kind}, {"device", c.device},
          {"world", c.world},           {"batch", c.batch},       {"q_heads", c.q_heads},
          {"kv_heads", c.kv_heads},     {"seq", c.seq},           {"dim", c.dim},
          {"dim_v", c.dim_v},           {"dtype", dtype_text(c.dtype)}, {"rope", rope_text(c.rope)},
          {"scale", c.scale ? nlohmann::json(*c.scale) : nlohmann::json("default")},
          {"data", c.data},             {"seed", c.seed}};
}

Case case_from_json(const nlohmann::json& json) {
  try {
    Case c;
    c.strategy = json.at("strategy");
    c.rotation = json.at("rotation");
    c.keep = json.at("keep");
    c.balance = json.at("balance");
    c.block = json.at("block");
    c.kernel = json.at("kernel");
    c.mask = parse_mask(json.at("mask"));
    c.world_kind = json.at("world_kind");
    c.device = json.at("device");
    c.world = json.at("world");
    c.batch = json.at("batch");
    c.q_heads = json.at("q_heads");
    c.kv_heads = json.at("kv_heads");
    c.seq = json.at("seq");
    c.dim = json.at("dim");
    c.dim_v = json.at("dim_v");
    c.dtype = parse_dtype(json.at("dtype"));
    c.rope = parse_rope(json.at("rope"));
    if (json.at("scale").is_number()) c.scale = json.at("scale").get<double>();
    c.data = json.at("data");
    c.seed = json.at("seed");
    validate(c);
    return c;
  } catch (const nlohmann::json::exception& error) {
    throw BadCase(std::string("case in JSON: ") + error.what());
  }
}

Mask mask_of(const Case& test) { return {test.mask, test.seq}; }

double scale_of(const Case& test) {
  return test.scale.value_or(1 / std::sqrt(static_cast<double>(test.dim)));
}

Layout layout_of(const Case& test) {
  return ringcheck::layout_of(Balancers::at(test.balance), {mask_of(test), test.block}, test.world);
}

Plan plan_of(const Case& test) {
  return {layout_of(test),
          {mask_of(test), scale_of(test)},
          AttentionKernels::at(test.kernel),
          ":" + test.rotation + (test.keep ? "[keep]" : "")};
}

at::DeviceType device_type_of(const Case& test) {
  return test.device == "cuda" ? at::kCUDA : at::kCPU;
}

bool any_on_cuda(const std::vector<Case>& cases) {
  for (const Case& test : cases)
    if (device_type_of(test) == at::kCUDA) return true;
  return false;
}

std::optional<std::string> not_supported(const Case& test) {
  BlockShape shape;
  if (test.device == "cuda") {
    if (why_no_cuda()) return why_no_cuda();
    if (test.world_kind == "mpi" && test.world > device_count(at::kCUDA))
      return "world " + std::to_string(test.world) + " of processes needs a GPU a rank, found " +
             std::to_string(device_count(at::kCUDA)) + "; use world kind thread";
    shape.device = at::Device(at::kCUDA, 0);
  }
  shape.dtype = test.dtype;
  shape.batch = test.batch;
  shape.q_heads = test.q_heads;
  shape.kv_heads = test.kv_heads;
  shape.dim = test.dim;
  shape.dim_v = test.dim_v;
  return refuses(Strategies::at(test.strategy), plan_of(test), shape);
}

}  // namespace ringcheck::parity
