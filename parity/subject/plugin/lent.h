// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>
#include <vector>

#include "abi/ringcheck.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

// A case as C sees it, as long as this lives.
class LentCase {
 public:
  LentCase(const Case& test, std::string arguments, int ranks);
  LentCase(const LentCase&) = delete;
  LentCase& operator=(const LentCase&) = delete;
  const ringcheck_case* operator&() const { return &c_; }

 private:
  std::string text_, arguments_, dtype_, mask_, rope_, balance_;
  std::vector<int64_t> lengths_;
  ringcheck_case c_{};
};

// A tensor without its owner.
class LentTensor {
 public:
  explicit LentTensor(const at::Tensor& x);
  const DLTensor* operator&() const { return &c_; }

 private:
  at::Tensor x_;
  DLTensor c_{};
};

// What one rank has.
class LentInput {
 public:
  LentInput(const RankInput& input);
  LentInput(const LentInput&) = delete;
  LentInput& operator=(const LentInput&) = delete;
  const ringcheck_input* operator&() const { return &c_; }

 private:
  LentTensor q_, k_, v_, d_o_;
  std::vector<int64_t> queries_, keys_;
  ringcheck_input c_{};
};

// The ranks. What fails behind a function is kept, and thrown where C++ goes on.
class LentRanks {
 public:
  explicit LentRanks(Communicator& comm);
  LentRanks(const LentRanks&) = delete;
  LentRanks& operator=(const LentRanks&) = delete;
  const ringcheck_ranks* operator&() const { return &c_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // 0, or 1 where it threw.
  template <class Work>
  static int32_t kept(const ringcheck_ranks* ranks, const Work& work);
  static int32_t exchange(const ringcheck_ranks* ranks, const DLTensor* send, int32_t to,
                          const DLTensor* receive, int32_t from);
  static int32_t all_gather(const ringcheck_ranks* ranks, const DLTensor* local,
                            const DLTensor* const* gathered);
  static int32_t all_to_all(const ringcheck_ranks* ranks, const DLTensor* const* sends,
                            const DLTensor* const* receives);
  static DLManagedTensor* zeros(const ringcheck_ranks* ranks, DLDataType dtype, int32_t dims,
                                const int64_t* sizes);

  Communicator& comm_;
  std::vector<int32_t> world_ranks_;
  std::exception_ptr failure_;
  ringcheck_ranks c_{};
};

// Tensors that a subject made, which are ours from here on. Throws std::runtime_error where one is
// no tensor.
RankOutput taken(const ringcheck_output& output);

}  // namespace ringcheck::parity
