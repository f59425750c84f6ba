// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The plug-in of examples/, with something wrong: what, say its arguments.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#define ringcheck_plugin gathered_plugin
#include "examples/plugin/gathered.cpp"
#undef ringcheck_plugin

namespace {

void scale(DLManagedTensor* x, double factor) {
  int64_t count = 1;
  for (int32_t d = 0; d < x->dl_tensor.ndim; ++d) count *= x->dl_tensor.shape[d];
  for (int64_t i = 0; i < count; ++i) static_cast<double*>(x->dl_tensor.data)[i] *= factor;
}

void drop(DLManagedTensor*& x) {
  x->deleter(x);
  x = nullptr;
}

// On rank 1 alone.
int32_t spoil(const std::string& how, const ringcheck_ranks& ranks, ringcheck_output& out,
              char* error, uint64_t capacity) {
  if (how == "fails") {
    std::snprintf(error, capacity, "the moon is full");
    return 7;
  }
  if (how == "dies") std::abort();
  if (how == "exits") ::_exit(3);
  if (how == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
  if (how == "dk_scaled") scale(out.dk, 0.97);
  if (how == "lse_shifted") scale(out.lse, 1.01);
  if (how == "no_dv") drop(out.dv);
  if (how == "o_flat") {
    drop(out.o);
    const int64_t size = 3;
    out.o = ranks.zeros(&ranks, {kDLFloat, 64, 1}, 1, &size);
  }
  if (how == "ignores_a_failure") {
    const int64_t size = 3;
    (void)ranks.zeros(&ranks, {kDLFloat, 7, 1}, 1, &size);
  }
  if (how == "gathers_scraps") {  // into buffers that are too small
    double scrap[2] = {};
    const Lent mine(scrap, 2), one(scrap, 1);
    const std::vector<const DLTensor*> list(ranks.ranks, &one.tensor);
    return ranks.all_gather(&ranks, &mine.tensor, list.data());
  }
  return 0;
}

int32_t run_spoilt(const ringcheck_case* c, const ringcheck_ranks* ranks,
                   const ringcheck_input* in, ringcheck_output* out, char* error,
                   uint64_t capacity) {
  if (const int32_t code = run(c, ranks, in, out, error, capacity); code != 0) return code;
  const char* process = std::getenv("OMPI_COMM_WORLD_RANK");  // as Open MPI numbers the job
  if (process != nullptr && ranks->world_ranks[ranks->rank] != std::atoi(process)) {
    std::snprintf(error, capacity, "rank %d is process %s, and not %d", ranks->rank, process, ranks->world_ranks[ranks->rank]);
    return 8;
  }
  return ranks->rank == 1 ? spoil(c->arguments, *ranks, *out, error, capacity) : 0;
}

void promise_much(const ringcheck_case* c, ringcheck_promise* said) {
  promise(c, said);
  if (std::strcmp(c->arguments, "shows_nonsense") == 0) said->shows = "o,p";
  if (std::strcmp(c->arguments, "of_no_kernel") == 0) said->contract = "flesh";
  if (std::strcmp(c->arguments, "coarse_angles") == 0) said->angle_roundoff = 0x1p-20;
  if (std::strcmp(c->arguments, "exits_when_asked") == 0) std::exit(0);
  if (std::strcmp(c->arguments, "crashes_when_asked") == 0) std::raise(SIGSEGV);
  if (std::strcmp(c->arguments, "hangs_when_asked") == 0) ::pause();
}

}  // namespace

extern "C" const ringcheck_subject* ringcheck_plugin(void) {
  static const ringcheck_subject subject{
      RINGCHECK_ABI + SPOILT_VERSION, sizeof subject, SPOILT_IN_THREADS, refuses, promise_much, run_spoilt};
  return &subject;
}
