#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes a fresh Debian or Ubuntu machine ready to build RingCheck; does nothing where it is.
# Distribution packages are installed where missing; LibTorch, CMake and Ninja come as one pinned
# environment into ${RINGCHECK_CACHE:-~/.cache/ringcheck}, outside the checkout. CUDA is added to it
# as ci/environment.sh decides; RINGCHECK_TESTS=0 leaves out what only tests and benchmarks need.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

python_packages=(python3 python3-venv ca-certificates)
packages=(
  "${python_packages[@]}" g++ git ccache lld
  libopenmpi-dev openmpi-bin librandom123-dev nlohmann-json3-dev libcli11-dev libboost-dev
  libsqlite3-dev zlib1g-dev node-d3
)
[[ ${RINGCHECK_TESTS:-1} == 0 ]] || packages+=(
  procps shellcheck python3-jsonschema librapidcheck-dev libgtest-dev libgmock-dev libbenchmark-dev
  libmpfr-dev libgmp-dev libclang-rt-14-dev python3-websocket
  libxml2-utils cmark-gfm libbenchmark-tools python3-scipy
)
# What the dashboard is tested in; Ubuntu has no such package, and the test says that it was skipped.
[[ ${RINGCHECK_TESTS:-1} == 0 ]] || ! grep -qs '^ID=debian' /etc/os-release || packages+=(chromium-headless-shell)

# Download sizes in MB of what ci/requirements pins, x86-64 wheels.
cpu_wheels=(
  "LibTorch=531"
  "the CUDA libraries that it is linked to: cupti 11, runtime 2=13"
  "CMake and Ninja=30"
)
cuda_wheels=(
  "CUDA libraries: cublas 423, cudnn 366, cufft 214, cusolver 201, nccl 197, cusparselt 170, cusparse 146, nvshmem 60, curand 60, nvjitlink 41, cufile 1=1879"
  "CUDA compiler: nvrtc 90, nvvm 62, nvcc 37, cccl 3=192"
  "cuDNN frontend headers=3"
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

# missing_packages package...
missing_packages() {
  local package status
  for package in "$@"; do
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

apt_install() {
  as_root apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >&2
}

# Into the folder where we are, as whoever we are.
apt_download() { apt-get -o APT::Sandbox::User=root download -qq "$@"; }

# Before anything is downloaded: may packages be installed, and which?
find_packages() {
  command -v dpkg-query >/dev/null || fail "needs Debian or Ubuntu (dpkg-query not found). Install by hand: ${packages[*]}"
  mapfile -t missing < <(missing_packages "${packages[@]}")
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]] && ! sudo -n true 2>/dev/null; then
    fail "these packages are missing, and installing them needs root or passwordless sudo:
  sudo apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "distribution packages missing: ${missing[*]}"
  say "downloading package lists (apt-get update, about 10 to 50 MB)"
  as_root apt-get -o DPkg::Lock::Timeout=300 update -qq
  say "downloading $(apt_megabytes "${missing[@]}") MB of distribution packages"
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

# announce WHAT FREE_GB wheel...   what is downloaded, where there is room for it.
announce() {
  local what=$1 needed=$2 line total=0 free_kb
  shift 2
  free_kb=$(df -Pk "$RINGCHECK_CACHE" | awk 'NR == 2 { print $4 }')
  ((free_kb > needed * 1024 * 1024)) || fail "$what needs $needed GB free in $RINGCHECK_CACHE, has $((free_kb / 1024 / 1024)); RINGCHECK_CACHE names another folder"
  say "downloading $what into $RINGCHECK_ENV"
  for line in "$@"; do
    printf '  %6d MB  %s\n' "${line##*=}" "${line%=*}" >&2
    total=$((total + ${line##*=}))
  done
  printf '  %6d MB  together; up to %d GB on disk\n' "$total" "$needed" >&2
}

# pip_install option...   with the Python of the folder that is being made.
pip_install() {
  mkdir -p "$partial/tmp"
  TMPDIR=$partial/tmp "$python" -m pip --disable-pip-version-check --no-input install --no-deps \
    --no-compile --no-cache-dir --progress-bar off --quiet "$@" </dev/null >&2
  rm -rf "$partial/tmp"
}

# No trace of the folder's first name: CMake's programs directly, the scripts with their new place.
settle() {
  local from=$1 to=$2 name
  for name in cmake ctest cpack; do
    ln -sfn "../lib/$RINGCHECK_PYTHON/site-packages/cmake/data/bin/$name" "$from/bin/$name"
  done
  settle_scripts "$from" "$to"
}
settle_scripts() {
  local from=$1 to=$2 file
  grep -lIr --exclude-dir=lib -- "$from" "$from" | while IFS= read -r file; do
    sed -i "s|$from|$to|g" "$file"
  done
}

# A folder takes its name when nothing is missing in it.
install_cpu() {
  announce "the pinned build environment" 2 "${cpu_wheels[@]}"
  rm -rf "$RINGCHECK_ENV"
  /usr/bin/python3 -m venv "$partial"
  python=$partial/bin/python3
  pip_install -r "$ci/requirements/cpu.txt"
  settle "$partial" "$RINGCHECK_ENV"
  touch "$partial/complete"
  mv "$partial" "$RINGCHECK_ENV"
}

# Into a folder of its own, then as links among the rest; the mark comes last. All of it is new there
# but for the links of the toolkit, so that a half of it would change nothing for CPUs.
install_cuda() {
  announce "CUDA" 5 "${cuda_wheels[@]}"
  mkdir "$partial"
  python=$RINGCHECK_ENV/bin/python3
  pip_install --target "$partial/site" -r "$ci/requirements/cuda.txt"
  cp -alf "$partial/site/." "$RINGCHECK_SITE/"
  complete_cuda_toolkit "$CUDA_HOME"
  touch "$RINGCHECK_ENV/complete-cuda"
  rm -rf "$partial"
}

environment_complete() {
  [[ -e $RINGCHECK_ENV/complete ]] &&
    [[ $RINGCHECK_WITH_CUDA == OFF || -e $RINGCHECK_ENV/complete-cuda ]]
}

install_environment() {
  local partial=$RINGCHECK_CACHE/partial-$$ python
  environment_complete && return
  mkdir -p "$RINGCHECK_CACHE"

  # One installer at a time; the others wait and find the result.
  exec 9>"$RINGCHECK_CACHE/setup.lock"
  if ! flock --nonblock 9; then
    say "waiting for another setup in $RINGCHECK_CACHE"
    flock 9
  fi
  rm -rf "$RINGCHECK_CACHE"/partial-*
  [[ -e $RINGCHECK_ENV/complete ]] || install_cpu
  environment_complete || install_cuda
}

# Linters of the templates, and promtool: of Debian's prometheus the one program, since the package
# would start a server.
install_tools() {
  local partial=$RINGCHECK_CACHE/partial-$$ python
  [[ ! -e $RINGCHECK_TOOLS/complete ]] || return 0
  exec 9>"$RINGCHECK_CACHE/setup.lock"
  flock 9
  [[ ! -e $RINGCHECK_TOOLS/complete ]] || return 0
  say "downloading 70 MB of tools for checks into $RINGCHECK_TOOLS"
  rm -rf "$RINGCHECK_TOOLS" "$partial"
  /usr/bin/python3 -m venv "$partial"
  python=$partial/bin/python3
  pip_install -r "$ci/requirements/tools/pypi.txt"
  (cd "$partial" && { apt_download prometheus || { as_root apt-get update -qq && apt_download prometheus; }; }) >&2
  dpkg-deb --fsys-tarfile "$partial"/prometheus_*.deb | tar -x -C "$partial/bin" --strip-components 3 ./usr/bin/promtool
  rm "$partial"/prometheus_*.deb
  settle_scripts "$partial" "$RINGCHECK_TOOLS"
  touch "$partial/complete"
  mv "$partial" "$RINGCHECK_TOOLS"
}

find_packages
mapfile -t first < <(missing_packages "${python_packages[@]}")
((${#first[@]} == 0)) || apt_install "${first[@]}"
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"

# Both downloads at once. An interrupt ends pip's; apt's goes on to its end.
apt=
if ((${#missing[@]})); then
  apt_install "${missing[@]}" &
  apt=$!
fi
install_environment
[[ ${RINGCHECK_TESTS:-1} == 0 ]] || install_tools
[[ -z $apt ]] || wait "$apt" || fail "distribution packages could not be installed"
say "ready: $RINGCHECK_ENV$([[ $RINGCHECK_WITH_CUDA == OFF ]] || echo ", with CUDA")"
