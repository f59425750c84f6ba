// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are JSON, or have it in front as safetensors do, are changed as such half of the time:
// bytes alone would hardly ever leave a member of another type in a file that still parses.
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

using nlohmann::json;
using Random = std::minstd_rand;

void collect(json& value, std::vector<json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (json& member : value) collect(member, all);
}

json another(Random& random, const std::vector<json*>& all) {
  static const std::vector<json> values{
      nullptr, true,  0,    -1,     1.5,           1e308,  uint64_t{1} << 63, int64_t{-1} << 62,
      "",      "nan", "-1", "\n\"", json::array(), json::object(), json::array({0, 0})};
  const size_t which = random() % (values.size() + 4);
  return which < values.size() ? values[which] : *all[random() % all.size()];
}

void change(json& root, Random& random) {
  std::vector<json*> all;
  collect(root, all);
  json& value = *all[random() % all.size()];
  if (!value.is_structured() || value.empty() || random() % 3 == 0) {
    value = another(random, all);
    return;
  }
  auto member = value.begin();
  std::advance(member, static_cast<long>(random() % value.size()));
  const json copy = *member;
  switch (random() % 3) {
    case 0: value.erase(member); break;
    case 1: *member = another(random, all); break;
    default:
      if (value.is_array()) value.push_back(copy);
      else value[member.key() + "x"] = copy;
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  Random random(seed + 1);
  uint64_t length = 0;  // of a header behind it
  if (size >= sizeof length) std::memcpy(&length, data, sizeof length);
  const bool header = size >= sizeof length && length <= size - sizeof length;
  const size_t begin = header ? sizeof length : 0, end = header ? begin + length : size;
  json root = random() % 2 == 0 ? json(json::value_t::discarded)
                                : json::parse(data + begin, data + end, nullptr, false);
  if (root.is_discarded()) return LLVMFuzzerMutate(data, size, most);
  for (size_t times = 1 + random() % 3; times > 0; --times) change(root, random);
  const std::string text = root.dump(-1, ' ', false, json::error_handler_t::replace);
  if (begin + text.size() + (size - end) > most) return LLVMFuzzerMutate(data, size, most);
  std::memmove(data + begin + text.size(), data + end, size - end);
  std::memcpy(data + begin, text.data(), text.size());
  length = text.size();
  if (header) std::memcpy(data, &length, sizeof length);
  return begin + text.size() + (size - end);
}
