// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Values beyond the limits of docs/cli.md, of the wrong type, empty, doubled, or no text.
#include <algorithm>

#include "parity/case/part.h"
#include "property_tests/cli/bad_inputs/bad_inputs.h"

namespace ringcheck::testing {
namespace {

using Words = std::vector<std::string>;

// A whole number of any length, and 1.
std::string one_more(std::string digits) {
  for (size_t at = digits.size(); at-- > 0;) {
    if (digits[at] != '9') {
      ++digits[at];
      return digits;
    }
    digits[at] = '0';
  }
  return "1" + digits;
}

std::string beyond(const Limit& limit, Dice& dice) {
  if (dice.toss()) {  // above
    if (!limit.whole) return dice.of(Words{"1" + limit.most, "1e300", "inf"});
    return dice.of(Words{one_more(limit.most), limit.most + "0", "99999999999999999999999"});
  }
  if (limit.above && dice.toss()) return limit.least;
  if (!limit.whole) return dice.of(Words{"-1", "-1e300", "-inf"});
  if (limit.least != "0" && dice.toss()) return std::to_string(std::stoll(limit.least) - 1);
  return dice.of(Words{"-1", "-" + limit.most, "-99999999999999999999999"});
}

BadInput with_value(const Material& material, const Limit& limit, const std::string& value,
                    const Words& right) {
  Words words = material.call(limit.command, limit.option);
  words.push_back(limit.option + "=" + value);
  return {words, {value, "'" + value + "'", limit.option}, right};
}

BadInput beyond_limits(Dice& dice, const Material& material) {
  const Limit& limit = dice.of(material.limits);
  // The numbers of a message need not be written as the page writes them.
  const std::string most = limit.most.substr(0, limit.most.find('.'));
  const std::string least = limit.least.substr(0, limit.least.find(".0"));
  return with_value(material, limit, beyond(limit, dice),
                    {most, "to 2^40 (1099511627776)", "at least " + least, "above " + least, least + " to", "from " + least});
}

BadInput no_number(Dice& dice, const Material& material) {
  const Limit& limit = dice.of(material.limits);
  Words wrong{"abc", "nan", "K", "1e", "4KK", "--", "1 000", "½"};
  if (limit.whole) wrong.push_back("1.5");
  const std::string most = limit.most.substr(0, limit.most.find('.'));
  return with_value(material, limit, dice.of(wrong), {"want", most});
}

BadInput empty(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  const Described& option = dice.of(command.options);
  if (option.is_flag()) return empty(dice, material);
  Words words = material.call(command.name, option.name);
  if (option.is_place()) words.back() = "";
  else if (dice.toss()) words.push_back(option.name + "=");
  else words.insert(words.end(), {option.name, ""});
  return {words, {option.name, "''"}, {}};
}

// Of a list: a value twice, or none between two commas.
BadInput careless_list(Dice& dice, const Material& material) {
  std::vector<std::pair<std::string, std::string>> lists;  // calls and values
  Words values, words;
  if (dice.toss()) {
    const Named& named = dice.of(material.named);
    if (!named.list || named.names.size() < 2) return careless_list(dice, material);
    words = {named.command, named.option};
    values = named.names;
  } else {
    const Limit& limit = dice.of(material.limits);
    const DescribedCommand& command = material.command(limit.command);
    const auto option = std::ranges::find(command.options, limit.option, &Described::name);
    if (!option->many) return careless_list(dice, material);
    words = {limit.command, limit.option};
    values = {"1", "2", "3"};
  }
  const std::string a = dice.of(values), b = dice.of(values);
  if (a == b) return careless_list(dice, material);
  const bool doubled = dice.toss();
  words.push_back(doubled ? a + "," + b + "," + a
                          : dice.of(Words{a + ",," + b, "," + a, a + ",", ","}));
  return {words, {a, words.back()}, {doubled ? "twice" : "empty value"}};
}

// A piece of the text of a case.
BadInput wrong_piece(Dice& dice, const Material& material) {
  const auto& parts = parity::parts();
  const parity::Part& part = dice.of(parts);
  if (!part.claims) return wrong_piece(dice, material);
  const std::string good = part.prefix + part.standard;
  if (dice.toss())
    return {{"verify", "--case", good + "/" + good}, {"'" + good + "'"}, {"twice"}};
  if (part.prefix.empty()) {
    const std::string word = misspelt(part.standard, {part.standard}, dice);
    if (part.standard.size() < 4) return wrong_piece(dice, material);
    return {{"verify", "--case", "seed3/" + word},
            {"'" + word, "'" + word.substr(word.find(':') + 1) + "'"},
            {"did you mean", "known: ", "the form"}};
  }
  const std::string wrong = dice.of(Words{"", "?", "-", "1e", "[", "1..2"});
  return {{"verify", "--case", part.prefix + wrong},
          {"'" + part.prefix + wrong + "'", "'" + wrong + "'"},
          {}};
}

// What is shown of it is one line that can be read.
BadInput no_text(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  const Described& option = dice.of(command.options);
  if (option.is_flag()) return no_text(dice, material);
  static const std::map<std::string, std::string> shown{
      {"/no/x\ny", "/x\\x0ay"},     {"/no/x\r\x1b[31my", "/x\\x0d\\x1b[31my"},
      {"/no/x\xff\xfey", "/x\\xff\\xfey"}, {"/no/x\ty\x7f", "/x\\x09y\\x7f"},
      {"/no/" + std::string(100000, 'x'), std::string(100, 'x')}};
  const auto one = std::next(shown.begin(), static_cast<long>(dice.below(shown.size())));
  Words words = material.call(command.name, option.name);
  if (option.is_place()) words.back() = one->first;
  else if (std::ranges::count(words, material.folder + "/missing") > 0)
    return no_text(dice, material);  // that may be what it says
  else words.insert(words.end(), {option.name, one->first});
  return {words, {one->second}, {}};
}

}  // namespace

Mutators wrong_values() {
  return {{"beyond limits", beyond_limits}, {"beyond limits", beyond_limits},
          {"no number", no_number},         {"empty", empty},
          {"careless list", careless_list}, {"wrong piece", wrong_piece},
          {"no text", no_text}};
}

}  // namespace ringcheck::testing
