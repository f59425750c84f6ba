// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ringcheck::parity {

// Where the processes of some ranks come together as a process group: at an address that the first of
// them offers, under a number that no meeting had before. Ranks that were together last stay so.
class Meeting {
 public:
  Meeting(int64_t number, bool anew) : number(number), anew(anew) {}
  const int64_t number;
  const bool anew;
  std::promise<int64_t> offer;  // by the first of them
  const std::shared_future<int64_t> port = offer.get_future().share();
};

class Meetings {
 public:
  // The next meeting of these ranks of the world, as one of them asks: the same for all of them.
  std::shared_ptr<Meeting> next(const std::vector<int>& ranks, int own);
  void forget();  // their processes are others from here on

 private:
  std::mutex mutex_;
  int64_t number_ = 0;
  std::map<int, std::vector<int>> together_;  // by rank, with whom it was last
  struct Ahead {
    std::vector<std::shared_ptr<Meeting>> meetings;
    std::map<int, size_t> taken;  // by rank
  };
  std::map<std::vector<int>, Ahead> ahead_;
};

}  // namespace ringcheck::parity
