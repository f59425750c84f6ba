// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace ringcheck {

// Where the laws of kernels and of context parallelism run: RINGCHECK_TEST_DEVICE, cpu (where it is
// not set) or cuda. Throws where it asks for what is not there: nothing is skipped.
at::DeviceType test_device_type();
at::Device test_device();
// The one among them that is the calling rank's own.
at::Device current_test_device();
std::string test_device_name();

}  // namespace ringcheck
