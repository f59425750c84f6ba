// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/interrupts.h"

#include <cstring>

namespace ringcheck::cli {
namespace {

volatile sig_atomic_t last = 0;

}  // namespace

Interrupts::Interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { last = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(signal, &action, &old_[signal]);
}

Interrupts::~Interrupts() {
  for (const auto& [signal, action] : old_)
    ::sigaction(signal, &action, nullptr);
}

int Interrupts::noted() { return last; }

std::string Interrupts::text(int signal) { return signal == SIGINT ? "Ctrl-C" : ::strsignal(signal); }

void Interrupts::check() {
  if (last != 0) throw Interrupted{last};
}

}  // namespace ringcheck::cli
