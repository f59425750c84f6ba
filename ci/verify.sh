#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/verify.sh [arguments]   sets up, builds the command and runs `ringcheck verify [arguments]`;
# the exit code is the command's, or 70 where it cannot be built: that is no verdict on anything.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# What the command prints must stand alone on standard output.
targets=(ringcheck)
[[ $* != *cuda* ]] || targets+=(ringcheck_cuda)
"$ci/build.sh" release "${targets[@]}" >&2 || exit 70
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
exec "$RINGCHECK_ROOT/build/release/bin/ringcheck" verify "$@"
