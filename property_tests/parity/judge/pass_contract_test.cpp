// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A backward pass that promises more than the forward pass is held to it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "parity/faults/decorators/subject.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck::parity {
namespace {

Status parity_of(const Case& test, const std::string& tensor, const SharedSubject& subject) {
  RunOptions options;
  options.subject = subject;
  const Verdict verdict = verify(test, options);
  for (const TensorVerdict& one : oracle(verdict, "parity").tensors)
    if (one.tensor == tensor) return one.status;
  throw std::out_of_range(tensor);
}

SharedSubject rounding(at::Tensor Gradients::*which) {
  return with_kernel([which](Communicator&, const Case& test) {
    return AroundKernel{.after_backward = [=](const KernelCall&, Gradients& terms) {
      terms.*which = (terms.*which).to(test.dtype).to((terms.*which).scalar_type());
    }};
  });
}

// `flash` rounds P and partial results to 16 bits in its forward pass, and computes its backward pass
// in float32: a term of a gradient that is rounded to 16 bits is a bug of it, and was within what the
// forward pass may do. dK is not among them: what the rounded O of the forward pass does to D is more
// than such a term.
TEST(PassContract, ATermOfAGradientInSixteenBitsFailsAFloat32BackwardPass) {
  for (const char* dtype : {"bf16", "fp16"}) {
    const Case test = parse_case(std::string("ring:p2p/headtail/flash/causal/P4/hq4/hkv2/s128/d32/") + dtype);
    for (const auto& [name, which] : {std::pair{"dq", &Gradients::dq}, {"dv", &Gradients::dv}}) {
      EXPECT_EQ(parity_of(test, name, ours()), Status::kPass) << name << " " << dtype;
      EXPECT_EQ(parity_of(test, name, rounding(which)), Status::kFail) << name << " " << dtype;
    }
  }
}

// Where no contract says otherwise, both passes have the same.
TEST(PassContract, IsThatOfTheForwardPassUnlessItSaysOtherwise) {
  const Case flash = parse_case("flash/P2/s16/bf16"), plain = parse_case("plain/P2/s16/bf16");
  EXPECT_EQ(contracts_of(plain).backward, contracts_of(plain).forward);
  EXPECT_LT(contracts_of(flash).backward.u_m, contracts_of(flash).forward.u_m);
  EXPECT_EQ(contracts_of(flash).backward.u_o, contracts_of(flash).forward.u_o);
}

// Tensor cores chop, and what was seen to chop says so.
TEST(PassContract, SaysThatSumsAreChoppedWhereTheyWereSeenToBe) {
  for (const auto& file : std::filesystem::directory_iterator(RINGCHECK_SOURCE_DIR "/kernels")) {
    const std::string name = file.path().filename(), kernel = name.substr(0, name.find('.'));
    if (!name.ends_with(".contract.json")) continue;
    const nlohmann::json& contract = contract_json(kernel);
    for (const auto& [architecture, dtypes] : contract.at("measured").items())
      for (const auto& [dtype, measured] : dtypes.items())
        EXPECT_EQ(contract.at("dtypes").at(dtype).contains("chops_after"), measured.at("chops").get<bool>())
            << kernel << " " << architecture << " " << dtype;
  }
}

// In fp16 dS underflows by how small it is when it becomes an operand: cuDNN multiplies it by the scale first.
TEST(PassContract, TheUnderflowOfDsFollowsTheScaleWhereItIsMultipliedFirst) {
  const reference::Contract first = contract_of(parse_case("cudnn/cuda/P2/s16/fp16")),
                            then = contract_of(parse_case("fa2/cuda/P2/s16/fp16"));
  for (const double scale : {1e-3, -1e-3}) EXPECT_DOUBLE_EQ(first.ds_step(scale), first.eta_p * 1000);
  for (const double scale : {0., 1., 8.}) EXPECT_EQ(first.ds_step(scale), first.eta_p) << scale;
  EXPECT_EQ(then.ds_step(1e-3), then.eta_p);
  EXPECT_TRUE(loosest_contract({at::kHalf}).scales_ds);
}

}  // namespace
}  // namespace ringcheck::parity
