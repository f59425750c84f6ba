# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(RingCheck) gives RingCheck::ringcheck, with LibTorch on CMAKE_PREFIX_PATH.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/RingCheck)
install(TARGETS ringcheck_core EXPORT RingCheckTargets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringcheck)
if(RINGCHECK_CUDA)
  install(TARGETS ringcheck_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ringcheck_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ringcheck)
  install(TARGETS ringcheck)
endif()
install(EXPORT RingCheckTargets NAMESPACE RingCheck:: DESTINATION ${config_dir})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/RingCheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/RingCheckConfig.cmake cmake/Torch.cmake
  ${PROJECT_BINARY_DIR}/generated/RingCheckConfigVersion.cmake
  DESTINATION ${config_dir})
