# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(RingCheck) gives RingCheck::ringcheck, with LibTorch on CMAKE_PREFIX_PATH. What is
# installed names no folder of this machine, and may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/RingCheck)
# Of component "command": what runs, without headers and pages.
install(TARGETS ringcheck_core EXPORT RingCheckTargets
  LIBRARY COMPONENT command
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringcheck)
if(RINGCHECK_CUDA)
  install(TARGETS ringcheck_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
endif()
install(TARGETS ringcheck_mpi ringcheck_program LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
# The command is a script that finds LibTorch, and starts the program.
set(command_dir ${CMAKE_INSTALL_LIBDIR}/ringcheck)
set_target_properties(ringcheck PROPERTIES INSTALL_RPATH $ORIGIN/../..)
install(TARGETS ringcheck RUNTIME DESTINATION ${command_dir}/bin COMPONENT command)
install(PROGRAMS ci/bundle/run DESTINATION ${command_dir} COMPONENT command)
install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(CREATE_LINK ../${command_dir}/run
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/ringcheck\" SYMBOLIC)"
  COMPONENT command)
install(EXPORT RingCheckTargets NAMESPACE RingCheck:: DESTINATION ${config_dir})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/RingCheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/RingCheckConfig.cmake cmake/Torch.cmake
  ${PROJECT_BINARY_DIR}/generated/RingCheckConfigVersion.cmake
  DESTINATION ${config_dir})

install(FILES abi/ringcheck.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES reports/result.schema.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/reports)
