# SPDX-License-Identifier: Apache-2.0
#
# Optional pieces, and the table at the end of configure.

# postern_found(<name> <text>): one row of the table.
function(postern_found name text)
  string(REPLACE ";" "," text "${text}")
  set_property(GLOBAL APPEND PROPERTY POSTERN_FOUND "${name}\t${text}")
endfunction()

# postern_optional(<OPTION> <what it is for> <found> <detail> <fix>)
#
# OPTION is a cache variable AUTO|ON|OFF. found says whether the machine has it, detail what or where it is. Sets
# <OPTION>_ENABLED in the caller. ON without the piece stops and says what to do.
function(postern_optional option purpose found detail fix)
  set(${option} AUTO CACHE STRING "${purpose}: AUTO, ON or OFF")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${${option}}" wanted)
  string(TOLOWER "${option}" name)
  string(REGEX REPLACE "^postern_" "" name "${name}")
  set(enabled OFF)
  if(wanted STREQUAL "OFF")
    set(text "off, as asked (${purpose})")
  elseif(found)
    set(enabled ON)
    set(text "${detail} (${purpose})")
  elseif(wanted STREQUAL "ON")
    message(FATAL_ERROR "${option} is ON, but this machine lacks what it needs (${purpose}).\n  fix: ${fix}")
  else()
    set(text "absent (${purpose}). fix: ${fix}")
  endif()
  postern_found("${name}" "${text}")
  set(${option}_ENABLED ${enabled} PARENT_SCOPE)
endfunction()

function(postern_print_table)
  get_property(rows GLOBAL PROPERTY POSTERN_FOUND)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}" flags)
  set(sanitizers "${POSTERN_SANITIZE}")
  if(NOT sanitizers)
    set(sanitizers none)
  endif()
  list(PREPEND rows
    "version\t${PROJECT_VERSION}, for ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}"
    "compiler\t${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} (${CMAKE_C_COMPILER})"
    "build type\t${CMAKE_BUILD_TYPE} (${flags})"
    "sanitizers\t${sanitizers}"
    "tests\t${POSTERN_TESTS}, over chaos ${POSTERN_TEST_CHAOS}"
    "examples\t${POSTERN_EXAMPLES}"
    "install to\t${CMAKE_INSTALL_PREFIX} (libraries in ${CMAKE_INSTALL_LIBDIR})")
  message(STATUS "Postern:")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([^\t]*)\t(.*)$" unused "${row}")
    set(name "${CMAKE_MATCH_1}")
    set(text "${CMAKE_MATCH_2}")
    string(LENGTH "${name}" width)
    math(EXPR pad "18 - ${width}")
    string(REPEAT " " ${pad} space)
    message(STATUS "  ${name}${space}${text}")
  endforeach()
endfunction()
