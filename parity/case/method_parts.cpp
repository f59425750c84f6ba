// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/case/balance/own_balance.h"
#include "parity/case/part.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using Words = std::vector<std::string>;

template <class Table>
Words names_of(const Table& table) {
  Words names;
  for (const auto& [name, entry] : table) names.push_back(name);
  return names;
}

std::string names_in_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : ", ") + word;
  return line;
}

// The name of a strategy ends where its arguments begin.
std::string name_in(std::string_view text) { return std::string(text.substr(0, text.find_first_of(":["))); }

// ring:allgather, ring:allgather[keep], ring:alltoall, ...
Words strategies() {
  Words texts;
  for (const auto& [name, entry] : Strategies::all())
    for (const std::string& arguments : entry.values()) texts.push_back(name + arguments);
  return texts;
}

// A rotation is said without what stands before it.
enum class Said { kStrategy, kRotation };

// What a strategy says of wrong arguments, and the right ones that are near.
std::string wrong_arguments(const std::string& why, const std::string& name, const std::string& arguments,
                            Said said) {
  const std::string meant = nearest(arguments, Strategies::at(name).values());
  if (meant.empty()) return why;
  return why + "; did you mean '" + (said == Said::kStrategy ? name + meant : meant.substr(1)) + "'?";
}

void known_strategy(const std::string& name, const std::string& arguments) {
  if (Strategies::all().contains(name)) return;
  Words known = strategies();
  for (const std::string& one : names_of(Strategies::all()))
    if (std::ranges::find(known, one) == known.end()) known.push_back(one);
  throw BadCase(unknown_name("strategy", name + arguments, known));
}

void set_strategy(Case& test, const std::string& name, const std::string& arguments,
                  Said said = Said::kStrategy) {
  known_strategy(name, arguments);
  try {
    test.arguments = Strategies::at(name).canonical(arguments);
  } catch (const std::invalid_argument& error) {
    throw BadCase(wrong_arguments(error.what(), name, arguments, said));
  }
  test.strategy = name;
}

void parse_strategy(Case& test, const std::string& text) {
  const std::string name = name_in(text);
  set_strategy(test, name, text.substr(name.size()));
}

// The default strategy for another one; of one strategy, the arguments that stand for all alike.
std::vector<Case> simpler_strategies(const Case& test) {
  std::vector<Case> list{representative(test)};
  if (test.strategy != Case{}.strategy)
    list.push_back(with(test, [](Case& c) { set_strategy(c, Case{}.strategy, ""); }));
  for (const std::string& arguments : Strategies::at(test.strategy).values())
    if (test.arguments.starts_with(arguments) && test.arguments != arguments)  // without an option
      list.push_back(with(test, [&](Case& c) { c.arguments = arguments; }));
  return list;
}

Part subject_part() {
  Part row{.name = "subject", .option = "subject", .prefix = "subject:",
           .help = "who answers: ours, or another subject by name", .standard = Method::kOurs};
  row.claims = [](std::string_view) { return true; };
  row.replaces = true;
  // Ours is said by its strategy.
  row.print = [](const Case& c) { return c.is_ours() ? "" : c.subject; };
  row.parse = [](Case& c, const std::string& text) {
    if (text.empty() || text.ends_with("[]"))
      throw BadCase("subject '" + text + "' says no arguments in its brackets; leave them out");
    parse_call(text);  // or throws: a bracket that never closes would swallow the pieces behind it
    c.subject = text;
  };
  row.values = [] { return Words{Method::kOurs}; };
  return row;
}

Part strategy_part() {
  Part row{.name = "strategy", .option = "strategy", .prefix = "",
           .help = "how attention is spread over the ranks: " + names_in_line(strategies()),
           .standard = Case{}.strategy + Case{}.arguments};
  row.claims = [](std::string_view text) { return Strategies::all().contains(name_in(text)); };
  row.print = [](const Case& c) { return c.is_ours() ? c.strategy + c.arguments : ""; };
  row.parse = parse_strategy;
  row.values = strategies;
  row.simpler = simpler_strategies;
  return row;
}

// The arguments of a ring without their colon.
Words rotations() {
  Words texts;
  for (const std::string& argument : Strategies::at("ring").values()) texts.push_back(argument.substr(1));
  return texts;
}

// The argument of strategies that have one behind a colon, by itself.
Part rotation_part() {
  Part row{.name = "rotation", .option = "rotation", .prefix = "",
           .help = names_in_line(rotations()),
           .standard = Case{}.arguments.substr(1)};
  row.print = [](const Case& c) {
    return c.is_ours() && c.arguments.starts_with(":") ? c.arguments.substr(1) : "";
  };
  row.parse = [](Case& c, const std::string& text) {
    if (!Strategies::at(c.strategy).values().front().starts_with(":"))
      throw BadCase("'" + text + "': " + c.strategy + " rotates nothing; leave it out, or say another strategy");
    set_strategy(c, c.strategy, ":" + text, Said::kRotation);
  };
  return row;
}

void parse_balance(Case& test, const std::string& text) {
  test.block = 1;
  test.balance = text;
  if (cuts_itself(test)) return;
  const Call call = parse_call(text);
  known_name("balancer", call.name, Balancers::all());
  const bool takes_block = Balancers::at(call.name).takes_block;
  if (call.arguments.size() > (takes_block ? 1U : 0U))
    throw BadCase("balancer '" + text + "': " + call.name +
                  (takes_block ? " takes one block size" : " takes no parameter"));
  test.balance = call.name;
  test.block = call.arguments.empty() ? 1 : parse_size(call.arguments[0]);
  if (test.block < 1) throw BadCase("balancer '" + text + "': the block size must be at least 1");
}

std::string balance_text(const Case& test) {
  if (cuts_itself(test)) return test.balance;
  const bool takes_block = Balancers::at(test.balance).takes_block;
  return test.balance + (takes_block ? "[" + std::to_string(test.block) + "]" : "");
}

// With blocks of some sizes where there are blocks.
Words balances() {
  Words texts;
  for (const auto& [name, entry] : Balancers::all()) {
    if (!entry.takes_block) texts.push_back(name);
    else
      for (const char* block : {"[1]", "[3]", "[16]"}) texts.push_back(name + block);
  }
  return texts;
}

// The one that cuts into fewest pieces.
std::string simplest_balancer(int world) {
  const auto granule = [=](const auto& known) { return known.second.granule(1, world); };
  return std::ranges::min_element(Balancers::all(), {}, granule)->first;
}

std::vector<Case> simpler_balances(const Case& test) {
  std::vector<Case> list{
      with(test, [](Case& c) { c.balance = simplest_balancer(c.world), c.block = 1; })};
  for (const int64_t block : below(test.block, 1))
    list.push_back(with(test, [&](Case& c) { c.block = block; }));
  return list;
}

Part balance_part() {
  Part row{.name = "balance", .option = "balance", .prefix = "",
           .help = names_in_line(names_of(Balancers::all())) + "[BLOCK]",
           .standard = Case{}.balance};
  row.claims = [](std::string_view text) { return text == kOwnBalance || Balancers::all().contains(name_in(text)); };
  row.print = balance_text;
  row.parse = parse_balance;
  row.values = balances;
  row.simpler = simpler_balances;
  return row;
}

Part kernel_part() {
  Part row = name_part("kernel", "kernel", names_in_line(names_of(AttentionKernels::all())),
                       &Case::kernel, [] { return names_of(AttentionKernels::all()); });
  row.print = [](const Case& c) { return c.is_ours() ? c.kernel : ""; };
  row.simpler = [](const Case& test) {
    return std::vector{
        with(test, [](Case& c) { c.kernel = plainest_kernel(device_type_of(c)); })};
  };
  return row;
}

}  // namespace

std::vector<Part> method_parts() {
  return {subject_part(), strategy_part(), rotation_part(), balance_part(), kernel_part()};
}

}  // namespace ringcheck::parity
