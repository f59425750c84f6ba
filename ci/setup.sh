#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes a fresh Debian or Ubuntu machine ready to build RingCheck; does nothing where it is.
# Distribution packages are installed where missing; LibTorch, CMake, Ninja and the CUDA compiler
# come as one pinned environment into ${RINGCHECK_CACHE:-~/.cache/ringcheck}, outside the checkout.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

packages=(
  g++ git ca-certificates python3 python3-venv python3-jsonschema ccache lld procps
  libopenmpi-dev openmpi-bin
  librapidcheck-dev libgtest-dev libgmock-dev libbenchmark-dev
  librandom123-dev nlohmann-json3-dev libcli11-dev libmpfr-dev libgmp-dev libboost-dev
)

# Download sizes in MB of what ci/requirements.txt pins, x86-64 wheels.
wheels=(
  "LibTorch: torch=531"
  "CUDA libraries: cublas 423, cudnn 366, cufft 214, cusolver 201, nccl 197, cusparselt 170, cusparse 146, nvshmem 60, curand 60, nvjitlink 41, cupti 11, cufile 1=1890"
  "CUDA compiler: nvrtc 90, nvvm 62, nvcc 37, cccl 3, runtime 2=194"
  "triton, which torch asks for=188"
  "CMake and Ninja=30"
  "cuDNN frontend headers=12"
  "Python packages that torch asks for=18"
)

say() { echo "RingCheck setup: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
  fi
}

missing_packages() {
  local package status
  for package in "${packages[@]}"; do
    # shellcheck disable=SC2016  # the format is dpkg-query's
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || true
    [[ $status == installed ]] || echo "$package"
  done
}

# What apt would download, in MB.
apt_megabytes() {
  apt-get install --print-uris -qq -y --no-install-recommends "$@" |
    awk "/^'/ { bytes += \$3 } END { printf \"%.0f\", bytes / 1e6 }"
}

install_packages() {
  local missing
  command -v dpkg-query >/dev/null || fail "needs Debian or Ubuntu (dpkg-query not found). Install by hand: ${packages[*]}"
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]] && ! sudo -n true 2>/dev/null; then
    fail "these packages are missing, and installing them needs root or passwordless sudo:
  sudo apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "distribution packages missing: ${missing[*]}"
  say "downloading package lists (apt-get update, about 10 to 50 MB)"
  as_root apt-get -o DPkg::Lock::Timeout=300 update -qq
  say "downloading $(apt_megabytes "${missing[@]}") MB of distribution packages"
  as_root apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# The names and folders that CMake's CUDA support expects of a toolkit.
complete_cuda_toolkit() {
  local toolkit=$1 name
  ln -sfn lib "$toolkit/lib64"
  for name in cudart nvrtc cublas cublasLt cufft curand cusolver cusparse cupti nvJitLink; do
    local versioned=("$toolkit/lib/lib$name".so.*)
    [[ -e ${versioned[0]} ]] && ln -sfn "$(basename -- "${versioned[0]}")" "$toolkit/lib/lib$name.so"
  done
  return 0
}

announce_wheels() {
  local line total=0
  say "downloading the pinned build environment into $RINGCHECK_ENV"
  for line in "${wheels[@]}"; do
    printf '  %6d MB  %s\n' "${line##*=}" "${line%=*}" >&2
    total=$((total + ${line##*=}))
  done
  printf '  %6d MB  together; 5.3 GB on disk\n' "$total" >&2
}

# No trace of the folder's first name: CMake's programs directly, the scripts with their new place.
settle() {
  local from=$1 to=$2 name file
  for name in cmake ctest cpack; do
    ln -sfn "../lib/$RINGCHECK_PYTHON/site-packages/cmake/data/bin/$name" "$from/bin/$name"
  done
  grep -lIr --exclude-dir=lib -- "$from" "$from" | while IFS= read -r file; do
    sed -i "s|$from|$to|g" "$file"
  done
}

install_environment() {
  local partial free_kb
  [[ -e $RINGCHECK_ENV/complete ]] && return
  mkdir -p "$RINGCHECK_CACHE"

  # One installer at a time; the others wait and find the result.
  exec 9>"$RINGCHECK_CACHE/setup.lock"
  if ! flock --nonblock 9; then
    say "waiting for another setup in $RINGCHECK_CACHE"
    flock 9
  fi
  [[ -e $RINGCHECK_ENV/complete ]] && return

  free_kb=$(df -Pk "$RINGCHECK_CACHE" | awk 'NR == 2 { print $4 }')
  ((free_kb > 9 * 1024 * 1024)) || fail "needs 9 GB free in $RINGCHECK_CACHE, has $((free_kb / 1024 / 1024)); RINGCHECK_CACHE names another folder"

  announce_wheels
  rm -rf "$RINGCHECK_CACHE"/partial-* "$RINGCHECK_ENV"
  partial=$RINGCHECK_CACHE/partial-$$
  /usr/bin/python3 -m venv "$partial"
  "$partial/bin/python3" -m pip --disable-pip-version-check --no-input install \
    --no-cache-dir --progress-bar off --quiet -r "$ci/requirements.txt" </dev/null >&2
  complete_cuda_toolkit "$partial/lib/$RINGCHECK_PYTHON/site-packages/nvidia/cu13"
  settle "$partial" "$RINGCHECK_ENV"
  touch "$partial/complete"
  mv "$partial" "$RINGCHECK_ENV"
}

install_packages
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
install_environment
say "ready: $RINGCHECK_ENV"
