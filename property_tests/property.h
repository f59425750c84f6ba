// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// RC_GTEST_PROP as RapidCheck has it, but for one thing: a property that ran no case, or fewer than
// it was asked for, does not pass. (RapidCheck's own passes the properties that RC_PARAMS=reproduce
// does not name with none at all.)
#pragma once

#include <rapidcheck/gtest.h>

#include <optional>
#include <string>

namespace ringcheck {

// Checks it as the running test: fails that where the property does, or where it did not run.
void check_property(const rc::detail::Property& property);

// Why a run under this RC_PARAMS shows nothing, and what to do; nothing where it counts.
std::optional<std::string> why_not_gating();

}  // namespace ringcheck

#undef RC_GTEST_PROP
#define RC_GTEST_PROP(Suite, Name, ArgList)                                                       \
  void rapidCheck_propImpl_##Suite##_##Name ArgList;                                              \
  TEST(Suite, Name) {                                                                             \
    ::ringcheck::check_property(::rc::detail::toProperty(&rapidCheck_propImpl_##Suite##_##Name)); \
  }                                                                                               \
  void rapidCheck_propImpl_##Suite##_##Name ArgList
