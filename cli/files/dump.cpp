// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/files/dump.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/guard/guard_file.h"
#include "cli/usage_error.h"
#include "parity/case/part.h"
#include "parity/case/safetensors.h"
#include "parity/subject/files/cases_folder.h"
#include "parity/subject/whole.h"

namespace ringcheck::cli {
namespace {

using parity::Case;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw UsageError("'" + path + "' " + what);
}

// A file of one rank.
struct Shard {
  std::string path;
  GuardFile facts;
  std::map<std::string, at::Tensor> tensors;
  std::vector<int64_t> positions;  // of its slots; -1: no token
};

void check_inputs(const Shard& shard, const at::Tensor& first) {
  for (const char* name : {"q", "k", "v", "do"}) {
    const at::Tensor& x = shard.tensors.at(name);
    if (x.scalar_type() != first.scalar_type())
      refuse(shard.path, c10::str("has ", name, " of dtype ", x.scalar_type(), ", where q of rank 0 is of ",
                                  first.scalar_type(), "; want one dtype of q, k, v and do"));
    if (!x.isfinite().all().item<bool>())
      refuse(shard.path, c10::str("has ", name, " with values that are not finite; nothing can be judged by "
                                  "them: leave slots without a token out, or give them zeros"));
  }
  if (!shard.facts.rotated)
    refuse(shard.path, "has q and k from before the rotary embedding; dump them, and their gradients, "
                       "as they are after it");
  if (shard.tensors.at("q").size(2) != shard.tensors.at("k").size(2))
    refuse(shard.path, "has other slots of q than of k; a rank must hold the same of both");
}

// A tensor of all ranks has one dtype: that of the first file.
void check_outputs(const Shard& shard, const Shard& first) {
  for (const char* name : {"o", "lse", "dq", "dk", "dv"}) {
    if (!shard.tensors.contains(name) || !first.tensors.contains(name)) continue;
    const at::ScalarType own = shard.tensors.at(name).scalar_type(), want = first.tensors.at(name).scalar_type();
    if (own != want)
      refuse(shard.path, c10::str("has ", name, " of dtype ", own, ", where '", first.path, "' has it of ", want,
                                  "; dump ", name, " of every rank in the dtype that the implementation gives"));
  }
}

// By rank where the files say it, else as they were given.
std::vector<Shard> read_shards(const std::vector<std::string>& files) {
  std::vector<Shard> shards;
  for (const std::string& path : files)
    shards.push_back({path, read_guard_file(path), parity::read_safetensors(path).tensors, {}});
  const auto said = std::ranges::count_if(shards, [](const Shard& s) { return s.facts.rank >= 0; });
  const auto world = static_cast<int>(shards.size());
  if (said > 0) {
    std::ranges::sort(shards, {}, [](const Shard& s) { return s.facts.rank; });
    for (int rank = 0; rank < world; ++rank)
      if (shards[rank].facts.rank != rank || shards[rank].facts.world != world)
        refuse(shards[rank].path,
               c10::str("says that it is rank ", shards[rank].facts.rank, " of ", shards[rank].facts.world,
                        ", and ", world, " files are given; give the file of each rank once"));
  }
  for (const Shard& shard : shards) {
    check_inputs(shard, shards.front().tensors.at("q"));
    check_outputs(shard, shards.front());
    if (shard.facts.scale != shards.front().facts.scale)
      refuse(shard.path, "has another softmax scale than '" + shards.front().path + "'; want one");
  }
  return shards;
}

// Where a file says its positions itself they must be those of the balancer.
void refuse_other_positions(const Shard& shard, const std::string& balance) {
  const auto said = shard.tensors.find("positions");
  if (said == shard.tensors.end()) return;
  const at::Tensor own = at::tensor(shard.positions, at::kLong);
  if (said->second.sizes() != own.sizes() || !at::equal(said->second.to(at::kLong), own))
    refuse(shard.path, "has a tensor 'positions' that is not what --balance " + balance + " gives this rank; leave --balance out");
}

// Of a named balancer, over as many tokens as there are slots.
void place_by_balancer(const Case& test, std::vector<Shard>& shards) {
  const std::vector<Positions> layout = layout_of(test).queries;
  for (size_t rank = 0; rank < shards.size(); ++rank) {
    shards[rank].positions = flatten(layout[rank]);
    refuse_other_positions(shards[rank], test.balance);
    const int64_t slots = shards[rank].tensors.at("q").size(2);
    if (slots != static_cast<int64_t>(shards[rank].positions.size()))
      refuse(shards[rank].path,
             c10::str("has ", slots, " slots, where ", test.balance, " gives rank ", rank, " ",
                      shards[rank].positions.size(), " of ", test.seq,
                      "; give each file a tensor 'positions', int64 [slots], -1 where there is no token"));
  }
}

void place_by_tensor(std::vector<Shard>& shards) {
  for (Shard& shard : shards) {
    const auto found = shard.tensors.find("positions");
    if (found == shard.tensors.end())
      refuse(shard.path, "has no tensor 'positions', int64 [slots]; add it, or say --balance, for example "
                         "--balance headtail");
    const at::Tensor& x = found->second;
    if (x.scalar_type() != at::kLong || x.sizes() != at::IntArrayRef({shard.tensors.at("q").size(2)}))
      refuse(shard.path, c10::str("has positions of shape ", x.sizes(), " and dtype ", x.scalar_type(),
                                  "; want int64 [", shard.tensors.at("q").size(2), "], a number a slot"));
    shard.positions.assign(x.const_data_ptr<int64_t>(), x.const_data_ptr<int64_t>() + x.numel());
  }
}

void check_range(const std::vector<Shard>& shards) {
  int64_t slots = 0;
  for (const Shard& shard : shards) slots += static_cast<int64_t>(shard.positions.size());
  for (const Shard& shard : shards)
    for (const int64_t position : shard.positions)
      if (position < -1 || position >= slots)
        refuse(shard.path, c10::str("has position ", position, ", and all files together have ", slots,
                                    " slots; want each token's place from 0 on, and -1 where there is no token"));
}

// Each position of 0 ... length - 1 once; how many there are.
int64_t length_of(const std::vector<Shard>& shards) {
  check_range(shards);
  std::map<int64_t, std::string> owners;
  for (const Shard& shard : shards)
    for (const int64_t position : shard.positions)
      if (position >= 0)
        if (const auto [owner, is_new] = owners.try_emplace(position, shard.path); !is_new)
          refuse(shard.path, c10::str("has position ", position, ", which '", owner->second,
                                      "' has, too; want each token once"));
  int64_t next = 0;
  for (const auto& [position, owner] : owners)
    if (position != next++)
      refuse(owner, c10::str("has position ", position, ", and nobody has position ", next - 1,
                             "; give the files of all ranks"));
  if (next == 0) throw NothingRan("the files hold no token");
  return next;
}

// The tokens of each rank.
std::vector<std::set<int64_t>> tokens_of(const std::vector<Shard>& shards) {
  std::vector<std::set<int64_t>> all;
  for (const Shard& shard : shards) {
    all.emplace_back(shard.positions.begin(), shard.positions.end());
    all.back().erase(-1);
  }
  return all;
}

bool is_cut_by(const Case& test, const std::vector<std::set<int64_t>>& tokens) {
  std::vector<std::set<int64_t>> ours;
  for (const Positions& positions : layout_of(test).queries) {
    const std::vector<int64_t> slots = flatten(positions);
    ours.emplace_back(slots.begin(), slots.end());
    std::erase_if(ours.back(), [&](int64_t position) { return position >= test.seq; });
  }
  return ours == tokens;
}

// The first run of tokens of rank 0: what a balancer that deals blocks deals at a time.
int64_t first_run(const std::set<int64_t>& tokens) {
  int64_t run = 0;
  while (tokens.contains(run)) ++run;
  return std::max<int64_t>(1, run);
}

// The balancer that cuts so, by which findings name ranks.
void recognise_balancer(const std::vector<Shard>& shards, Case& test) {
  const auto tokens = tokens_of(shards);
  for (const auto& [name, balancer] : Balancers::all()) {
    test.balance = name;
    test.block = balancer.takes_block ? first_run(tokens.front()) : 1;
    if (is_cut_by(test, tokens)) return;
  }
  refuse(shards.front().path, "and the others have positions as no balancer here gives them; want those of "
                              "contiguous, headtail or striped[BLOCK]");
}

Case case_of(const Dump& dump, std::vector<Shard>& shards) {
  const auto& first = shards.front().tensors;
  Case test;
  test.batch = first.at("q").size(0);
  test.q_heads = first.at("q").size(1);
  test.kv_heads = first.at("k").size(1);
  test.dim = first.at("q").size(3);
  test.dim_v = first.at("v").size(3);
  test.dtype = first.at("q").scalar_type();
  test.world = static_cast<int>(shards.size());
  test.mask = parity::parse_mask(dump.mask);
  test.scale = shards.front().facts.scale;
  for (const Shard& shard : shards) {
    const at::Tensor &q = shard.tensors.at("q"), &k = shard.tensors.at("k"), &v = shard.tensors.at("v");
    if (q.size(0) != test.batch || q.size(1) != test.q_heads || k.size(1) != test.kv_heads ||
        q.size(3) != test.dim || v.size(3) != test.dim_v)
      refuse(shard.path, "is no shard of the same problem as '" + shards.front().path +
                             "'; want the same batch, heads and dims");
  }
  test.seq = 0;
  for (const Shard& shard : shards) test.seq += shard.tensors.at("q").size(2);
  if (dump.balance.empty()) {
    place_by_tensor(shards);
    test.seq = length_of(shards);
    parity::validate(test);
    recognise_balancer(shards, test);
  } else {
    parity::part("balance").parse(test, dump.balance);
    parity::validate(test);
    place_by_balancer(test, shards);
  }
  return test;
}

// A tensor of all ranks in the order of the sequence.
at::Tensor whole(const std::vector<Shard>& shards, const std::string& name, int64_t length) {
  std::vector<int64_t> shape = shards.front().tensors.at(name).sizes().vec();
  shape[2] = length;
  at::Tensor all = at::zeros(shape, shards.front().tensors.at(name).options());
  for (const Shard& shard : shards) {
    std::vector<int64_t> slots, places;
    for (size_t slot = 0; slot < shard.positions.size(); ++slot)
      if (const int64_t position = shard.positions[slot]; position >= 0 && position < length) {
        slots.push_back(static_cast<int64_t>(slot));
        places.push_back(position);
      }
    const at::Tensor tokens = shard.tensors.at(name).index_select(2, at::tensor(slots, at::kLong));
    all.index_copy_(2, at::tensor(places, at::kLong), tokens);
  }
  return all;
}

}  // namespace

bool write_dump(const Dump& dump, const std::string& folder) {
  std::vector<Shard> shards = read_shards(dump.files);
  Case test = case_of(dump, shards);
  const auto of = [&](const char* name) { return whole(shards, name, test.seq); };
  const std::string inputs = folder + "/whole.safetensors";
  parity::write_safetensors(inputs, {{{"q", of("q")}, {"k", of("k")}, {"v", of("v")}, {"do", of("do")}}, {}});
  test.data = "tensors[" + inputs + "]";
  parity::validate(test);
  parity::write_cases(folder, {test});
  std::filesystem::remove(inputs);
  const bool has_lse = std::ranges::all_of(shards, [](const Shard& s) { return s.facts.has_lse; });
  const std::vector<parity::RankOutput> answers = parity::scattered(
      test, {of("o"), has_lse ? of("lse") : at::Tensor(), of("dq"), of("dk"), of("dv"), {}, {}, {}});
  for (int rank = 0; rank < test.world; ++rank) {
    const parity::RankOutput& own = answers.at(rank);
    parity::Safetensors file{{{"o", own.o}, {"dq", own.dq}, {"dk", own.dk}, {"dv", own.dv}}, {}};
    if (has_lse) file.tensors["lse"] = own.lse;
    parity::write_safetensors(folder + "/" + parity::output_name(0, rank), file);
  }
  return has_lse;
}

}  // namespace ringcheck::cli
