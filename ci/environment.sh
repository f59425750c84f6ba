# shellcheck shell=bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Where the tools are. Sourced by the other scripts, and by a shell that wants to work by hand.
# The machine's own CUDA toolkit and CMake are overruled: everything comes from the pinned
# environment that ci/setup.sh makes.

RINGCHECK_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
RINGCHECK_CACHE=${RINGCHECK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringcheck}
RINGCHECK_PYTHON=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')

# The environment is named by its contents: another lock or another Python is another folder. What
# CUDA needs is added to the same folder, so that LibTorch has one place with and without it.
RINGCHECK_ENV=$({ cat "$RINGCHECK_ROOT"/ci/requirements/*.txt && echo "$RINGCHECK_PYTHON"; } | sha256sum)
RINGCHECK_ENV=$RINGCHECK_CACHE/env-${RINGCHECK_ENV:0:12}
RINGCHECK_SITE=$RINGCHECK_ENV/lib/$RINGCHECK_PYTHON/site-packages
# What checks alone use is in another one, so that a linter does not bring LibTorch anew.
RINGCHECK_TOOLS=$({ cat "$RINGCHECK_ROOT"/ci/requirements/tools/*.txt && echo "$RINGCHECK_PYTHON"; } | sha256sum)
RINGCHECK_TOOLS=$RINGCHECK_CACHE/tools-${RINGCHECK_TOOLS:0:12}
export RINGCHECK_ROOT RINGCHECK_CACHE RINGCHECK_ENV RINGCHECK_TOOLS

# Whether CUDA is set up and compiled: as RINGCHECK_CUDA says (1 or 0), else where there is a GPU.
# CMakePresets.json reads the answer.
case ${RINGCHECK_CUDA:-} in
  1) RINGCHECK_WITH_CUDA=ON ;;
  0) RINGCHECK_WITH_CUDA=OFF ;;
  "") if [[ -n $(nvidia-smi --list-gpus 2>/dev/null) || -r /dev/nvidia0 ]]; then
        RINGCHECK_WITH_CUDA=ON
      else
        RINGCHECK_WITH_CUDA=OFF
      fi ;;
  *) echo "RingCheck: RINGCHECK_CUDA=$RINGCHECK_CUDA is neither 1 nor 0" >&2; return 2 ;;
esac
export RINGCHECK_WITH_CUDA

export CMAKE_PREFIX_PATH=$RINGCHECK_SITE/torch
export CUDA_HOME=$RINGCHECK_SITE/nvidia/cu13
export CUDA_PATH=$CUDA_HOME CUDAToolkit_ROOT=$CUDA_HOME CUDA_TOOLKIT_ROOT_DIR=$CUDA_HOME
export CUDACXX=$CUDA_HOME/bin/nvcc
export PATH=$RINGCHECK_ENV/bin:/usr/bin:/bin:$PATH
unset LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH TORCH_INSTALL_PREFIX CMAKE_GENERATOR

export CCACHE_DIR=${CCACHE_DIR:-$RINGCHECK_CACHE/ccache}
export CCACHE_BASEDIR=$RINGCHECK_ROOT CCACHE_NOHASHDIR=true  # clones at other paths share
export CCACHE_DEPEND=true  # what a source includes, the compiler says: nothing is preprocessed twice
export CCACHE_INODECACHE=true  # a precompiled header of 0.4 GB is read once, not for every source
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# Open MPI: root in a container, more ranks than cores, no ssh, no cross-process reads.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
command -v ssh >/dev/null || export OMPI_MCA_plm_rsh_agent=

# Parallel compilations: one a core, and no more than the memory carries at 1.5 GB each.
ringcheck_jobs() {
  local jobs
  jobs=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  ((jobs < $(nproc))) || jobs=$(nproc)
  ((jobs > 0)) || jobs=1
  echo "$jobs"
}
