// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/diagnosis.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>

#include "parity/judge/devices/one_thread.h"
#include "parity/judge/diagnosis/alternatives.h"
#include "parity/judge/diagnosis/meanings.h"
#include "parity/judge/diagnosis/nearness.h"
#include "parity/judge/diagnosis/reordered.h"
#include "parity/judge/diagnosis/wrong.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

constexpr int64_t kMostScores = int64_t{1} << 19, kMostScoresInAll = int64_t{1} << 24, kMostNumbers = int64_t{1} << 22,
                  kMostHeads = 256;

bool is_small(const Case& test) {
  const int64_t heads = test.batch * test.kv_heads, scores = test.q_heads / test.kv_heads * test.seq * test.seq;
  return test.seq <= kMostScores && scores <= kMostScores && heads <= kMostHeads && scores * heads <= kMostScoresInAll &&
         test.batch * test.q_heads * test.seq * std::max(test.dim, test.dim_v) <= kMostNumbers;
}

// The rank of each slot of the sequence.
std::vector<int64_t> owners_of(const Case& test) {
  std::vector<int64_t> owner(test.seq, 0);
  int64_t rank = 0;
  for (const Positions& shard : layout_of(test).queries) {
    for (const int64_t position : flatten(shard))
      if (position < test.seq) owner[position] = rank;
    ++rank;
  }
  return owner;
}

// So that those of several tensors and cases that differ by rounding are one.
std::string factor_text(double factor) {
  std::ostringstream text;
  if (std::abs(factor - 1) < 0.005) text << "1 + " << std::setprecision(1) << factor - 1;
  else text << std::setprecision(3) << factor;
  return text.str();
}

// What was found to explain a tensor: of one rank, or of all (-1).
struct Found {
  std::string words, tensor;
  int64_t rank = -1;
};

class Diagnosis {
 public:
  Diagnosis(const Case& test, const Problem& all, std::vector<Wrong> wrong, const std::function<void()>& tick)
      : test_(test), tick_(tick), owner_(owners_of(test)), wrong_(std::move(wrong)) {
    const auto clean = [&](const at::Tensor& x) { return without_pads(test, x); };
    problem_ = {clean(all.q), clean(all.k), clean(all.v), clean(all.d_o)};
  }

  std::vector<std::string> lines() {
    fill_in_truth();
    const Asked asked = asked_of(test_, problem_, entry_, head_, visible_pairs(mask_of(test_, entry_)));
    for (const Wrong& one : wrong_) {
      find_factor(one);
      find_order(one);
    }
    for (const Alternative& alternative : alternatives(asked)) {
      if (std::ranges::all_of(wrong_, [&](const Wrong& one) { return is_explained(one, -1); })) break;
      tick_();
      try_on(alternative, asked);
    }
    for (const Wrong& one : wrong_) look_at_errors(one);
    return told();
  }

 private:
  // And finds the entry and the key-value head that are wrong most.
  void fill_in_truth() {
    double most = 0;
    for (int64_t entry = 0; entry < test_.batch; ++entry) {
      const at::Tensor pairs = visible_pairs(mask_of(test_, entry));
      for (int64_t head = 0; head < test_.kv_heads && pairs.numel() > 0; ++head) {
        tick_();
        const Asked asked = asked_of(test_, problem_, entry, head, pairs);
        double off = 0;
        for (const Wrong& one : wrong_) {
          const at::Tensor right = with_channels(asked.answer.*one.named.tensor, one.named);
          one.part(one.all.truth, entry, asked).copy_(right);
          const double here = distance(one.part(one.all.got, entry, asked), right) / std::max(size_of(right), 1e-300);
          off += std::isnan(here) ? std::numeric_limits<double>::infinity() : here;
        }
        if (off <= most) continue;
        most = off;
        entry_ = entry;
        head_ = head;
      }
    }
  }

  bool is_explained(const Wrong& one, int64_t rank) const {
    return std::ranges::any_of(found_, [&](const Found& found) {
      return found.tensor == one.named.name && (found.rank == -1 || found.rank == rank);
    });
  }

  // The slots of a rank, of [.., slots, channels]; all of them where it is -1.
  at::Tensor rows(const at::Tensor& x, int64_t rank) const {
    if (rank < 0) return x;
    std::vector<int64_t> own;
    for (int64_t p = 0; p < x.size(-2); ++p)
      if (owner_[p] == rank) own.push_back(p);
    return x.index_select(-2, at::tensor(own, at::kLong));
  }

  // Asks whether something explains the whole of it, and where it does not each rank that is wrong and of which nothing
  // is known.
  void ask(const Wrong& one, const Beside& part, const std::function<std::string(const Beside& rows, int64_t rank)>& words) {
    if (is_explained(one, -1)) return;
    for (int64_t rank = -1; rank < test_.world; ++rank) {
      if (is_explained(one, rank)) continue;
      const Beside some{rows(part.got, rank), rows(part.truth, rank)};
      const std::string said = words(some, rank);
      if (said.empty() || !is_wrong(some, extent_of(one.all))) continue;
      found_.push_back({said, one.named.name, rank});
      if (rank < 0 || test_.world == 1) return;
    }
  }

  void find_factor(const Wrong& one) {
    ask(one, one.all, [&](const Beside& some, int64_t) -> std::string {
      const at::Tensor truth = at::where(some.truth.isfinite(), some.truth, 0.);
      const double square = truth.square().sum().item<double>();
      if (!(square > 0)) return "";
      if (some.got.eq(0).all().item<bool>()) return "zero";
      const double factor = at::where(some.truth.isfinite(), truth * some.got, 0.).sum().item<double>() / square;
      const at::Tensor multiple = some.truth * factor;
      if (!explains(multiple, some)) return "";
      const double width = std::max(distance(some.got, multiple) / size_of(multiple), 1e-3) * std::abs(factor);
      const Scene scene{scale_of(test_), test_.world, test_.q_heads / test_.kv_heads};
      return c10::str(factor_text(factor), " times what is expected", meaning_of(factor, width, scene));
    });
  }

  void find_order(const Wrong& one) {
    for (const Reordered& other : reordered(one.all.truth, is_of_keys(one.named) ? 1 : test_.q_heads / test_.kv_heads))
      if (!is_explained(one, -1) && explains(other.tensor, one.all)) found_.push_back({"as if " + other.words, one.named.name, -1});
  }

  void try_on(const Alternative& alternative, const Asked& asked) {
    const reference::Tensors answer = alternative.answer();
    for (const Wrong& one : wrong_) {
      if (!(answer.*one.named.tensor).defined()) continue;
      const at::Tensor there = with_channels(answer.*one.named.tensor, one.named);
      ask(one, {one.part(one.all.got, entry_, asked), one.part(one.all.truth, entry_, asked)}, [&](const Beside& some, int64_t rank) {
        return explains(rows(there, rank), some) ? "as if " + alternative.words : "";
      });
    }
  }

  // What its errors themselves say, where nothing else was found.
  void look_at_errors(const Wrong& one) {
    const bool known = std::ranges::any_of(found_, [&](const Found& found) { return found.tensor == one.named.name; });
    if (known || !one.judged || distance(one.all.got, one.all.truth) == 0) return;
    std::string words = rounding_of(one);
    if (one.all.got.isnan().any().item<bool>())
      words = has_pads(test_) ? "NaN, which slots without a token hold here: 0 times NaN is NaN" : "NaN";
    else if (const std::string place = one.place(owner_, test_.dtype); !place.empty())
      words = "wrong " + place + " alone";
    if (!words.empty()) found_.push_back({words, one.named.name, -1});
  }

  std::string rounding_of(const Wrong& one) const {
    const at::Tensor& got = one.all.got;
    const auto fits = [&](const at::Tensor& x, at::ScalarType narrow) { return x.eq(x.to(narrow).to(at::kDouble)).all().item<bool>(); };
    const size_t width = std::min(c10::elementSize(one.dtype), is_lse(one.named) ? sizeof(double) : c10::elementSize(test_.dtype));
    for (const at::ScalarType narrow : {at::kBFloat16, at::kHalf, at::kFloat})
      if (c10::elementSize(narrow) < width && fits(got, narrow) && !fits(one.all.truth, narrow))
        return c10::str("every number is exactly one of ", dtype_text(narrow), ", as if rounded to it");
    // Unit roundoffs; of sums of several rounded terms less, or more.
    const Extent extent = extent_of(one.all);
    const double off = extent.off / extent.size;
    const auto about = [&](double roundoff) { return off > roundoff / 8 && off < roundoff * 4; };
    const char* format = about(0x1p-8) ? "bf16" : about(0x1p-11) ? "fp16 or TF32" : about(0x1p-24) && test_.dtype == at::kDouble ? "float32" : nullptr;
    return format == nullptr ? "" : c10::str("off all over by little: roundings to ", format, " on the way could leave as much");
  }

  // A line for each explanation, "o and lse, and dq at ranks 1 and 2: as if ...", of whole tensors first.
  std::vector<std::string> told() const {
    std::vector<std::pair<int64_t, std::string>> lines;
    for (const Found& found : found_)
      if (&*std::ranges::find(found_, found.words, &Found::words) == &found)
        if (const std::string tensors = tensors_of(found.words); !tensors.empty())
          lines.emplace_back(std::ranges::count_if(found_, [&](const Found& one) { return one.words == found.words && one.rank < 0; }),
                             tensors + ": " + found.words);
    std::ranges::stable_sort(lines, std::ranges::greater(), &std::pair<int64_t, std::string>::first);
    std::vector<std::string> words;
    for (auto& line : lines) words.push_back(std::move(line.second));
    return words;
  }

  // What explains all of a tensor explains its ranks, too.
  std::string tensors_of(const std::string& words) const {
    std::map<std::string, std::vector<std::string>> by_place;
    for (const Wrong& one : wrong_) {
      std::vector<int64_t> ranks;
      for (const Found& found : found_)
        if (found.words == words && found.tensor == one.named.name && (found.rank < 0 || !is_explained(one, -1))) ranks.push_back(found.rank);
      if (ranks.empty()) continue;
      std::string place = ranks.front() < 0 ? "" : (ranks.size() == 1 ? " at rank " : " at ranks ") + numbers_text(ranks);
      if (const std::string where = one.place({}, test_.dtype); words.find(" alone") == std::string::npos && !where.empty()) place += " (" + where + " alone)";
      by_place[place].emplace_back(one.named.name);
    }
    std::string text;
    for (const auto& [place, tensors] : by_place) text += (text.empty() ? "" : ", and ") + list_text(tensors) + place;
    return text;
  }

  const Case& test_;
  const std::function<void()>& tick_;
  const std::vector<int64_t> owner_;
  std::vector<Wrong> wrong_;
  Problem problem_;
  int64_t entry_ = 0, head_ = 0;  // those that are wrong most
  std::vector<Found> found_;
};

}  // namespace

std::vector<std::string> diagnosis(const Case& test, const std::function<Problem()>& problem, const Outcome& outcome,
                                   const std::set<std::string>& wrong, const std::function<void()>& tick) {
  if (wrong.empty() || !is_small(test)) return {};
  const OneThread alone;
  std::vector<Wrong> list = wrong_of(test, outcome, wrong);
  return list.empty() ? std::vector<std::string>() : Diagnosis(test, problem(), std::move(list), tick).lines();
}

void explain(Verdict& verdict, const std::function<Problem()>& problem, const Outcome& outcome, const std::function<void()>& tick) {
  if (verdict.status != Status::kFail) return;
  std::set<std::string> wrong;
  for (const OracleVerdict& oracle : verdict.oracles)
    for (const TensorVerdict& tensor : oracle.tensors)
      if (oracle.about == About::kValues && tensor.status == Status::kFail) wrong.insert(tensor.tensor);
  try {
    verdict.explained = diagnosis(verdict.test, problem, outcome, wrong, tick);
  } catch (const std::exception& error) {
    verdict.explained = {std::string("not explained, as that failed: ") + error.what()};
  }
}

}  // namespace ringcheck::parity
