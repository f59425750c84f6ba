// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Words that nobody knows, in places where nobody wants them, or that contradict each other.
#include <algorithm>

#include "property_tests/cli/bad_inputs/bad_inputs.h"

namespace ringcheck::testing {
namespace {

using Words = std::vector<std::string>;

Words did_you_mean(const Words& names) {
  Words says;
  for (const std::string& name : names) {
    says.push_back("did you mean " + name + "?");
    says.push_back("did you mean '" + name + "'?");
    says.push_back("did you mean '" + name.substr(0, name.find('[')) + "'?");
    says.push_back("did you mean '" + name.substr(0, name.find('[')) + "[");
  }
  return says;
}

Words split_name(const std::string& name) { return DescribedCommand{name, {}}.words(); }

BadInput misspelt_command(Dice& dice, const Material& material) {
  Words names;
  const std::string outer = dice.of(Words{"", "", "report ", "result "});
  for (const DescribedCommand& command : material.commands)
    if (command.name.starts_with(outer))
      if (const Words words = split_name(command.name.substr(outer.size())); words.size() == 1)
        names.push_back(words.front());
  const std::string word = misspelt(dice.of(names), names, dice);
  Words words = split_name(outer);
  words.push_back(word);
  return {words, {"'" + word + "'"}, did_you_mean(names)};
}

BadInput misspelt_option(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  Words names, words = material.call(command.name);
  for (const Described& option : command.options)
    if (!option.is_place()) names.push_back(option.name);
  if (names.empty()) return misspelt_option(dice, material);
  const std::string word = misspelt(dice.of(names), names, dice);
  words.push_back(dice.toss() ? word : word + "=1");
  return {words, {"'" + word + "'"}, did_you_mean(names)};
}

// ring:p2p, and ring.
Words with_names_alone(Words strategies) {
  for (const std::string& strategy : Words(strategies))
    strategies.push_back(strategy.substr(0, strategy.find(':')));
  return strategies;
}

BadInput misspelt_name(Dice& dice, const Material& material) {
  const Named& named = dice.of(material.named);
  const std::string name = dice.of(named.names);
  if (std::min(name.find('['), name.size()) < 4) return misspelt_name(dice, material);
  const std::string word = misspelt(name, named.names, dice);
  Words words = material.call(named.command, named.option);
  words.insert(words.end(), {named.option, word});
  // Of a strategy its name and its arguments are quoted apart.
  const size_t colon = word.find(':');
  return {words,
          {"'" + word + "'", "'" + word.substr(0, std::min(colon, word.find('['))) + "'",
           "'" + word.substr(colon == std::string::npos ? 0 : colon + 1) + "'"},
          did_you_mean(named.option == "--strategy" ? with_names_alone(named.names) : named.names)};
}

BadInput unknown_name(Dice& dice, const Material& material) {
  const Named& named = dice.of(material.named);
  const std::string word = "zq" + std::to_string(dice.below(1000)) + "xv";
  Words words = material.call(named.command, named.option);
  words.insert(words.end(), {named.option, word});
  return {words, {"'" + word + "'"}, {"known: ", "faults --list"}};
}

BadInput no_choice(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  for (const Described& option : command.options)
    if (!option.choices.empty()) {
      const std::string word = misspelt(dice.of(option.choices), option.choices, dice);
      Words words = material.call(command.name);
      words.insert(words.end(), {option.name, word});
      return {words, {word}, option.choices};
    }
  return no_choice(dice, material);
}

BadInput one_word_too_many(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  for (const Described& option : command.options)
    if (option.is_place() && option.many) return one_word_too_many(dice, material);
  const std::string word = dice.toss() ? "extra" : "-q" + std::to_string(dice.below(9));
  Words words = material.call(command.name);
  words.push_back(word);
  return {words, {"'" + word}, {}};
}

// Without what it takes, or a flag with it.
BadInput wrong_count(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  const Described& option = dice.of(command.options);
  if (option.is_place()) {
    Words words = material.call(command.name);
    words.pop_back();
    Words places;
    for (const Described& one : command.options)
      if (one.is_place()) places.push_back(one.name);
    return {words, {places.back()}, {"required"}};
  }
  Words words = material.call(command.name, option.name);
  words.push_back(option.is_flag() ? option.name + "=" + std::to_string(dice.below(9)) : option.name);
  return {words, {option.name}, {"missing", "takes no value"}};
}

BadInput said_twice(Dice& dice, const Material& material) {
  const DescribedCommand& command = dice.of(material.commands);
  const Described& option = dice.of(command.options);
  if (option.is_place() || option.is_flag() || option.many) return said_twice(dice, material);
  Words words = material.call(command.name);
  words.insert(words.end(), {option.name, "3", option.name, "4"});
  return {words, {option.name}, {"once", "want one of", "is no time", "number from"}};
}

// What is said with these options, where they must exclude each other before anything is looked at.
Words example_of(const std::string& option) {
  static const std::map<std::string, std::string> examples{
      {"--profile", "smoke"}, {"--model", "llama3-8b"}, {"--case", "seed3"}, {"--tensors", "x"},
      {"--clean", "5"},       {"--shard", "1/2"},       {"--merge", "x"}};
  const auto found = examples.find(option);
  return found == examples.end() ? Words{option} : Words{option, found->second};
}

BadInput contradiction(Dice& dice, const Material& material) {
  std::vector<std::tuple<std::string, std::string, std::string>> pairs;
  for (const DescribedCommand& command : material.commands)
    for (const Described& option : command.options)
      for (const std::string& other : option.excludes)
        pairs.emplace_back(command.name, option.name, other);
  const Words ways = documented_ways();
  for (const std::string& way : ways)
    for (const std::string& other : ways)
      if (way != other) pairs.emplace_back("verify", way, other);
  const auto [command, one, other] = dice.of(pairs);
  Words words = material.call(command);
  for (const std::string& option : {one, other})
    for (const std::string& word : example_of(option)) words.push_back(word);
  return {words, {one}, {other}};
}

}  // namespace

Mutators wrong_words() {
  return {{"misspelt command", misspelt_command},
          {"misspelt option", misspelt_option},
          {"misspelt name", misspelt_name},
          {"misspelt name", misspelt_name},
          {"unknown name", unknown_name},
          {"no choice", no_choice},
          {"one word too many", one_word_too_many},
          {"wrong count", wrong_count},
          {"said twice", said_twice},
          {"contradiction", contradiction}};
}

}  // namespace ringcheck::testing
