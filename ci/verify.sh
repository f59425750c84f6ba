#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/verify.sh [arguments]   sets up, builds the command and runs `ringcheck verify [arguments]`;
# the exit code is the command's, or 70 where it cannot be built: that is no verdict on anything.
# CUDA is set up and compiled where there is a GPU or the arguments ask for one; RINGCHECK_CUDA=1 or
# 0 decides otherwise.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

[[ " $* " != *[\ =/,]cuda[\ /,]* ]] || export RINGCHECK_CUDA=${RINGCHECK_CUDA:-1}

# What the command prints must stand alone on standard output.
RINGCHECK_TESTS=0 "$ci/build.sh" release ringcheck_command >&2 || exit 70
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
exec "$RINGCHECK_ROOT/build/release/bin/ringcheck" verify "$@"
