# SPDX-License-Identifier: Apache-2.0
#
# The two libraries: what they export and what their users get. docs/abi.md says what SOVERSION means.

set_target_properties(postern PROPERTIES
  SOVERSION 0
  VERSION ${PROJECT_VERSION}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/install/postern.map)
target_link_options(postern PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/runtime/install/postern.map)
# The library's own uses of its pshmem_ names need no look-up by name at each start.
target_link_options(postern PRIVATE LINKER:-Bsymbolic-functions)
# A sanitizer's runtime comes with the program, so only a build without one can see that every name is defined.
if(NOT POSTERN_SANITIZE)
  target_link_options(postern PRIVATE LINKER:-z,defs)
endif()

set_target_properties(postern_static PROPERTIES OUTPUT_NAME postern)

foreach(library IN ITEMS postern postern_static)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # The symmetric static data begin behind RELRO; bound at start-up, the GOT lies in RELRO, out of reach of a stray put.
  target_link_options(${library} INTERFACE LINKER:-z,relro LINKER:-z,now)
endforeach()
target_link_libraries(postern PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(postern_static PUBLIC Threads::Threads ${CMAKE_DL_LIBS})

# The archive's data lie among the program's; the script sets them apart, or static data could not be symmetric.
target_link_options(postern_static INTERFACE
  $<BUILD_INTERFACE:LINKER:-T,${PROJECT_SOURCE_DIR}/runtime/install/postern-static.ld>
  $<INSTALL_INTERFACE:LINKER:-T,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/postern/postern-static.ld>)
