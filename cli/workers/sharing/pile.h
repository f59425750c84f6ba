// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/process/folder.h"
#include "cli/workers/sharing/deck.h"
#include "parity/case/case.h"

namespace ringcheck::cli {

// Cases of a run that workers share: by their index in all of them, and by their place here who has which.
struct Pile {
  Pile(const std::vector<parity::Case>& all, std::vector<size_t> its)
      : indexes(std::move(its)), path(folder.file("deck")), deck(Deck::create(path, indexes.size())) {
    for (const size_t index : indexes) cases.push_back(all[index]);
  }

  TemporaryFolder folder;
  std::vector<size_t> indexes;
  std::vector<parity::Case> cases;
  std::string path;  // of the deck
  Deck deck;
  std::string not_started;  // why the last worker that did not, did not
};

}  // namespace ringcheck::cli
