# SPDX-License-Identifier: Apache-2.0
#
# One Debian package with the library, the headers and the tools: `cpack` in the build folder. It installs to
# /opt/postern, whatever prefix the build has: Debian's Open MPI owns /usr/bin/oshrun and /usr/bin/oshcc, and both shall be
# on one machine (docs/decisions/0003-package-prefix.md).

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME postern)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Postern developers <postern@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "OpenSHMEM library, compiler wrappers and launcher")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/runtime/install/package-description.txt)
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/postern)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
# oshcc calls a compiler, and what it compiles needs the C library's headers. The modules for jobs on several machines open the last two themselves.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev, libfabric1, libpmix2")
# Programs find the library through the loader's cache; dpkg renews it on this trigger.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/runtime/install/package-loader.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/runtime/install/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
