#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/test.sh [ctest arguments]   sets up, builds, runs every test. RINGCHECK_PRESET names a preset
# other than release. CUDA code is compiled too, with or without a GPU, unless RINGCHECK_CUDA=0.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
preset=${RINGCHECK_PRESET:-release}

export RINGCHECK_CUDA=${RINGCHECK_CUDA:-1} RINGCHECK_TESTS=1
"$ci/build.sh" "$preset"
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
cd "$RINGCHECK_ROOT"
exec ctest --preset "$preset" --output-on-failure --parallel "$(nproc)" "$@"
