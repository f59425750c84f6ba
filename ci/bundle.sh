#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/bundle.sh [folder]   sets up, builds and packs the programs for a machine without a network:
# the commands, the tests that can run on a GPU, our libraries and a wrapper that finds LibTorch
# there. The folder is build/bundle by default and may be moved anywhere.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
limit_mib=72
tests=(kernel_laws kernel_gradient_laws gpu_memory_test context_parallel_laws context_parallel_bounds_laws
  context_parallel_exact_laws context_parallel_state_laws context_parallel_rope_laws
  exact_oracles_laws graphed_laws head_exchange_laws moves_laws memory_test seconds_laws delay_laws fused_laws reference_fused_laws
  arithmetic_test foreign_nccl_test gpu_transport_test)

export RINGCHECK_CUDA=1 RINGCHECK_TESTS=1
"$ci/build.sh" release ringcheck ringcheck_program ringcheck_bench ringcheck_scaling ringcheck_cuda \
  ringcheck_mpi "${tests[@]}" >&2
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
build=$RINGCHECK_ROOT/build/release
target=${1:-$RINGCHECK_ROOT/build/bundle}
staging=$target.new
rm -rf "$staging"
mkdir -p "$staging/bin" "$staging/lib"

for program in ringcheck ringcheck_bench ringcheck_scaling "${tests[@]}"; do
  cp "$build/bin/$program" "$staging/bin/"
done
find "$build/lib" -type l -name "libringcheck.so.*" -exec cp -L {} "$staging/lib/" \;
cp -L "$build/lib/libringcheck_cuda.so" "$build/lib/libringcheck_mpi.so" \
  "$build/lib/libringcheck_command.so" "$build/lib/libforeign_nccl.so" "$staging/lib/"
find "$staging" -type f -exec strip --strip-unneeded {} +
script=$(mktemp)
for file in "$staging"/*/*; do
  # shellcheck disable=SC2016  # CMake reads it
  printf 'file(RPATH_SET FILE "%s" NEW_RPATH "\\$ORIGIN:\\$ORIGIN/../lib")\n' "$file"
done >"$script"
cmake -P "$script" >/dev/null
rm "$script"
# What a node has no reason to have; they look for nothing and have no path to set.
ldd "$build/bin/ringcheck_bench" "$build/bin/ringcheck" |
  awk '/libbenchmark|libsqlite3|libz\.so/ {print $3}' | sort -u | xargs cp -L -t "$staging/lib/"
install -m 755 "$ci"/bundle/* "$ci/gpu.sh" "$staging/"
ln -s run "$staging/ringcheck"

size=$(du -sm "$staging" | cut -f1)
if ((size > limit_mib)); then
  echo "RingCheck: the bundle is $size MiB, more than $limit_mib MiB" >&2
  exit 1
fi
rm -rf "$target"
mv "$staging" "$target"
echo "RingCheck: bundle in $target, $size MiB" >&2
