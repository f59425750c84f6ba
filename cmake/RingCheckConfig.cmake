# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/Torch.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/RingCheckTargets.cmake)
