#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/check_includes_test.sh BUILD COMPILER   plants includes that the boxes forbid, in a copy of the
# sources: ci/check_includes.sh names each of them, and the box's include path has no such file.
# Those that it allows pass and compile.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build=$(realpath -- "$1") compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r CMakeLists.txt CMakePresets.json cmake abi examples reference cp kernels parity reports property_tests bench cli "$scratch"
wrong=0
fail() {
  echo "includes test: $*" >&2
  wrong=1
}

# found FILE INCLUDE   what the check says of a file that includes it.
found() {
  printf '#include %s\n' "$2" >"$scratch/$1"
  ci/check_includes.sh "$scratch" "$build/boxes.txt" >"$scratch/output" 2>&1 && code=0 || code=$?
  rm "$scratch/$1"
  ((code != 0)) && grep -qF "$1:1:#include $2" "$scratch/output"
}

# compiles BOX INCLUDE   whether it does where the box's sources do.
compiles() {
  echo "#include $2" | "$compiler" -std=c++20 -x c++ -fsyntax-only -I "$build/boxes/$1" - 2>"$scratch/output"
}

# forbidden BOX FILE INCLUDE   a dash for a box: one that is not compiled as one.
forbidden() {
  found "$2" "$3" || fail "$2 may include $3"
  [[ $1 == - ]] && return
  compiles "$1" "$3" && fail "$3 compiles in the box $1"
  grep -q 'No such file' "$scratch/output" || fail "$3 fails for another reason in the box $1"
}
allowed() {
  ! found "$2" "$3" || fail "$2 may not include $3"
  compiles "$1" "$3" || fail "$3 does not compile in the box $1"
}

found reference/planted.cpp '<vector>' && fail "<vector> is nobody's"
allowed layout cp/layout/planted.cpp '"reference/mask.h"'
allowed judge parity/judge/planted.cpp '"cp/error.h"'
forbidden layout cp/layout/planted.cpp '"reference/rope.h"'
forbidden layout cp/layout/planted.cpp '"cp/worlds/communicator.h"'
forbidden balancer cp/balancer/planted.cpp '"cp/rotation/ring_rotation.h"'
forbidden kernels kernels/planted.cpp '"parity/case/case.h"'
forbidden subject parity/subject/planted.cpp '"parity/judge/verdict.h"'
forbidden reference reference/planted.cpp '"cp/error.h"'
forbidden base cp/planted.cpp '"cp/layout/positions.h"'
forbidden - kernels/cuda/planted.cu '"parity/case/case.h"'
forbidden - reference/cuda/planted.cu '"cp/error.h"'
forbidden - cp/worlds/cuda/planted.cpp '"cp/attention/autograd.h"'
forbidden - reports/planted.cpp '"parity/judge/verdict.h"'
forbidden - reports/planted.cpp '<parity/judge/verdict.h>'
forbidden - cp/layout/planted.h '"positions.h"'
forbidden - cli/planted.cpp '"../cp/error.h"'

((wrong == 0)) && echo 'includes test: every planted include was found'
exit "$wrong"
