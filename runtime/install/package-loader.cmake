# SPDX-License-Identifier: Apache-2.0
#
# Run by cpack over the tree it is about to pack: tells the loader where the library is, and compresses the manual pages, as
# Debian does (without name and time, so that a package can be made again byte by byte).
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/etc/ld.so.conf.d/postern.conf "/opt/postern/lib\n")
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/opt/postern/share/man/man*/*)
if(pages)
  execute_process(COMMAND gzip -9 --no-name --force -- ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
