// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/subject/foreign.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/faults/decorators/communicator.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck {

parity::SharedSubject moving_by(std::function<Exchange(Communicator&)> make, int extra,
                                std::function<void(parity::Promise&)> promise) {
  const auto body = [=](Communicator& comm, const parity::Case& test,
                        const parity::RankInput& input) {
    const Exchange exchange = make(comm);
    const auto relay = parity::with_transfer(comm, [&](Communicator&, parity::Posting posting) {
      const Message &out = posting.sends.at(0), &in = posting.receives.at(0);
      exchange(out.data, out.peer, in.data, in.peer);
      return Pending();
    });
    for (int i = 0; i < extra; ++i) {
      const at::Tensor block =
          at::zeros({parity::kv_block_bytes(test)}, at::device(comm.device()).dtype(at::kByte));
      exchange(block, comm.right(), block.clone(), comm.left());
    }
    return parity::context_parallel(*relay, test, input);
  };
  return parity::ours_with(body, std::move(promise));
}

parity::OracleVerdict counters_of(const parity::Case& test, const parity::Subject& subject,
                                  const parity::Outcome& outcome) {
  const parity::Problem problem = parity::problem_of(test);
  return parity::Oracles::at("counters").judge({test, subject, problem, outcome, {}, [] {}});
}

std::string block_outside(const parity::Case& test, int rank) {
  return c10::str("rank ", rank, " bytes sent outside the passes: ", parity::kv_block_bytes(test),
                  ", expected exactly 0");
}

}  // namespace ringcheck
