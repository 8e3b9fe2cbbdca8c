# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where. The tools install themselves (runtime/tools). All paths inside are relative, so an
# installed tree can be moved.

include(CMakePackageConfigHelpers)

set(POSTERN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/postern)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(TARGETS postern postern_static EXPORT postern
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT postern NAMESPACE postern:: DESTINATION ${POSTERN_CMAKE_DIR} FILE postern-targets.cmake)
configure_package_config_file(runtime/install/postern-config.cmake.in ${PROJECT_BINARY_DIR}/postern-config.cmake
  INSTALL_DESTINATION ${POSTERN_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_BINDIR)
# 0.x: a program asks for the minor version it was written to.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/postern-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/postern-config.cmake ${PROJECT_BINARY_DIR}/postern-config-version.cmake
  DESTINATION ${POSTERN_CMAKE_DIR})

# pkg-config finds the prefix from the place of the file: ${pcfiledir}/../.. or, with a multiarch folder, one more.
string(REGEX REPLACE "[^/]+" ".." POSTERN_PC_UP "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(runtime/install/postern.pc.in ${PROJECT_BINARY_DIR}/lib/pkgconfig/postern.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/postern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

configure_file(runtime/install/uninstall.cmake.in ${PROJECT_BINARY_DIR}/uninstall.cmake @ONLY)
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/uninstall.cmake
    COMMENT "Removing what the last install wrote" VERBATIM)
endif()
