#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/build.sh [preset [target...]]   sets up, configures and builds; the preset is release by default.
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
cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$(ringcheck_jobs)" ${1:+--target "$@"}
echo "RingCheck: preset $preset built in build/$preset, $((SECONDS / 60)) min $((SECONDS % 60)) s" >&2
