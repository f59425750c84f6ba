// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/own_status.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ringcheck::cli {
namespace {

constexpr int kNoCase = -1;

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// What rank 0 says.
std::string told_to_all(Communicator& all, const std::string& text) {
  const int64_t size = all.agree_max(static_cast<int64_t>(text.size()));
  const at::Tensor own = at::zeros({size}, at::kByte);
  std::memcpy(own.mutable_data_ptr(), text.data(), text.size());
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < all.size(); ++rank) gathered.push_back(at::zeros({size}, at::kByte));
  all.all_gather(own, gathered, {"tell all"}).wait();
  return {static_cast<const char*>(gathered.front().const_data_ptr()), static_cast<size_t>(size)};
}

}  // namespace

OwnStatus::OwnStatus(int rank, const std::string& path) : rank_(rank), path_(path) {
  if (path.empty()) return;
  file_.emplace(StatusFile::open(path));
  file_->begin(rank_, kNoCase);
}

void OwnStatus::share(Communicator& all) {
  const std::string mine = host() + ":";
  const std::string told = told_to_all(all, rank_ == 0 ? mine + path_ : "");
  const std::string path = told.substr(std::min(mine.size(), told.size()));
  if (file_ || !told.starts_with(mine) || ::access(path.c_str(), W_OK) != 0) return;
  file_.emplace(StatusFile::open(path));
  file_->begin(rank_, kNoCase);
  file_->note_end(rank_, nullptr);
}

void OwnStatus::begin(size_t test) const {
  if (file_) file_->begin(rank_, static_cast<int>(test));
}

void OwnStatus::enter(const Operation& operation) const {
  if (file_) file_->enter(rank_, operation);
}

void OwnStatus::failed(RankState state, const std::string& why) const {
  if (file_) file_->failed(rank_, state, why);
}

void OwnStatus::done() const {
  if (file_) file_->done(rank_);
}

}  // namespace ringcheck::cli
