// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_links.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

namespace ringcheck::cli {
namespace {

// Without the escape sequences that underline the header.
std::string plain(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size() - 1);
    else
      result += text[i];
  }
  return result;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool is_gpu(const std::string& word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         word.find_first_not_of("0123456789", 3) == std::string::npos;
}

// Calls `take(first gpu, second gpu, cell)` for each pair. Where the two directions differ, the
// cell that is not `good` counts.
template <class Take>
void each_pair(const Matrix& matrix, const std::string& good, const Take& take) {
  for (size_t i = 0; i < matrix.gpus.size(); ++i)
    for (size_t j = i + 1; j < matrix.gpus.size(); ++j)
      take(matrix.gpus[i], matrix.gpus[j],
           matrix.cells[i][j] == good ? matrix.cells[j][i] : matrix.cells[i][j]);
}

std::string why_no_access(const std::string& cell) {
  static const std::map<std::string, std::string> kMeaning{
      {"CNS", "the chipset does not support it"},         {"GNS", "the GPU does not support it"},
      {"TNS", "the topology does not support it"},        {"NS", "not supported"},
      {"DR", "disabled by a registry key of the driver"}, {"U", "unknown"}};
  const auto found = kMeaning.find(cell);
  return cell + (found == kMeaning.end() ? "" : ", " + found->second);
}

Finding unreadable(const std::string& id, const std::string& what, const Answer& answer) {
  return {id, Severity::kWarning, what,
          answer.failure.empty() ? "cannot be read; nvidia-smi says: " + excerpt(answer.text)
                                 : answer.failure,
          ""};
}

}  // namespace

Matrix parse_matrix(const std::string& text) {
  Matrix matrix;
  for (const std::string& line : lines_of(plain(text))) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || !is_gpu(words[0]))
      continue;
    if (matrix.gpus.empty()) {
      for (size_t i = 0; i < words.size() && is_gpu(words[i]); ++i)
        matrix.gpus.push_back(words[i]);
    } else if (words.size() > matrix.gpus.size() && matrix.cells.size() < matrix.gpus.size()) {
      matrix.cells.emplace_back(
          words.begin() + 1, words.begin() + 1 + static_cast<std::ptrdiff_t>(matrix.gpus.size()));
    }
  }
  if (matrix.cells.size() != matrix.gpus.size())
    return {};
  return matrix;
}

std::vector<Finding> judge_access(const Matrix& access) {
  std::map<std::string, std::vector<std::string>> missing;
  int pairs = 0;
  each_pair(access, "OK", [&](const std::string& a, const std::string& b, const std::string& cell) {
    ++pairs;
    if (cell != "OK")
      missing[cell].push_back(a + "-" + b);
  });
  if (missing.empty())
    return {{"link.p2p", Severity::kOk, "peer-to-peer",
             pairs == 1 ? "between both" : "between all " + std::to_string(pairs) + " pairs", ""}};
  std::vector<Finding> findings;
  for (const auto& [cell, names] : missing)
    findings.push_back({"link.p2p", Severity::kWarning, "peer-to-peer",
                        "missing between " + c10::Join(", ", names) + " (" + why_no_access(cell) +
                            "): their traffic goes through host memory",
                        "switch off ACS and the IOMMU in the firmware (iommu=pt), or give the "
                        "virtual machine GPUs "
                        "of one NVLink domain; nvidia-smi topo -p2p r shows the effect"});
  return findings;
}

std::vector<Finding> judge_links(const Matrix& links) {
  std::map<std::string, std::vector<std::string>> kinds;
  each_pair(links, "X", [&](const std::string& a, const std::string& b, const std::string& cell) {
    kinds[cell].push_back(a + "-" + b);
  });
  std::vector<std::string> texts;
  bool nvlink = false;
  for (const auto& [kind, names] : kinds) {
    nvlink = nvlink || kind.starts_with("NV");
    texts.push_back(kind + " between " +
                    (kinds.size() == 1 && names.size() > 1
                         ? "all " + std::to_string(names.size()) + " pairs"
                         : c10::Join(", ", names)));
  }
  if (kinds.size() == 1 && nvlink)
    return {{"link.kind", Severity::kOk, "links", texts[0], ""}};
  const std::string meaning =
      nvlink ? ": the slowest pair sets the pace of a ring"
             : ": PCIe and no NVLink; SYS and NODE cross between sockets or PCIe switches";
  return {{"link.kind", Severity::kNote, "links", c10::Join("; ", texts) + meaning,
           "choose GPUs that are near each other with CUDA_VISIBLE_DEVICES"}};
}

Examined examine_links(const Smi& smi) {
  Examined seen;
  const Answer access_answer = smi.ask({"topo", "-p2p", "r"});
  const Answer links_answer = smi.ask({"topo", "-m"});
  const Matrix access = parse_matrix(access_answer.text), links = parse_matrix(links_answer.text);
  if (access.gpus.empty())
    seen.add(unreadable("link.p2p", "peer-to-peer", access_answer));
  else
    for (Finding& finding : judge_access(access))
      seen.add(std::move(finding));
  if (links.gpus.empty())
    seen.add(unreadable("link.kind", "links", links_answer));
  else
    for (Finding& finding : judge_links(links))
      seen.add(std::move(finding));
  std::map<std::string, nlohmann::json> pairs;
  const auto note = [&](const Matrix& matrix, const std::string& good, const char* member) {
    each_pair(matrix, good,
              [&](const std::string& a, const std::string& b, const std::string& cell) {
                nlohmann::json& pair = pairs[a + "-" + b];
                pair["between"] = {a, b};
                pair[member] = cell;
              });
  };
  note(access, "OK", "p2p");
  note(links, "X", "link");
  seen.facts["links"] = nlohmann::json::array();
  for (const auto& [name, pair] : pairs)
    seen.facts["links"].push_back(pair);
  return seen;
}

}  // namespace ringcheck::cli
