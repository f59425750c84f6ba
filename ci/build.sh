#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/build.sh [preset [target...]]   sets up, configures and builds; the preset is release by default.
# CUDA code is compiled as ci/environment.sh decides. RINGCHECK_TESTS=0 asks for no tests and
# benchmarks; a build tree that has them keeps them.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
preset=${1:-release}
shift $(($# > 0))

"$ci/setup.sh"
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
cd "$RINGCHECK_ROOT"

# One build of a tree at a time.
mkdir -p build
exec 8>"build/$preset.lock"
flock 8

SECONDS=0
cache=build/$preset/CMakeCache.txt
options=(-D BUILD_TESTING=ON)
if [[ ${RINGCHECK_TESTS:-1} == 0 ]] && ! grep -qs '^BUILD_TESTING:BOOL=ON' "$cache"; then
  options=(-D BUILD_TESTING=OFF)
fi
# What was found in another environment is forgotten.
grep -qs "^RINGCHECK_C10_LIBRARY:FILEPATH=$RINGCHECK_ENV/" "$cache" || options+=(--fresh)
cmake --preset "$preset" "${options[@]}"
cmake --build --preset "$preset" --parallel "$(ringcheck_jobs)" ${1:+--target "$@"}
echo "RingCheck: preset $preset built in build/$preset, $((SECONDS / 60)) min $((SECONDS % 60)) s" >&2
