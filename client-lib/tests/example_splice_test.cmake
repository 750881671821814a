# SPDX-License-Identifier: Apache-2.0
# docs/examples/splice.c: files, one of them compressed, and standard input.
include(${CMAKE_CURRENT_LIST_DIR}/example_daemon.cmake)
file(WRITE ${top}/a.csv "city,temperature\nRome,20.5\nOslo,3\nRome,21.5\n")
file(WRITE ${top}/b.csv "temperature,city\n5,Oslo\n\"7.5\",\"Bergen\"\n") # in another order
execute_process(COMMAND gzip ${top}/b.csv COMMAND_ERROR_IS_FATAL ANY)
set(input ${top}/a.csv)
expect(STREQUAL "city,readings,mean\nBergen,1,7.5\nOslo,2,4.0\nRome,2,21.0\n" ${top}/a.csv ${top}/b.csv.gz)
expect(STREQUAL "city,temperature\nRome,20.5\nRome,21.5\nBergen,7.5\n" -w 6 ${top}/a.csv ${top}/b.csv.gz)
expect(STREQUAL "city,readings,mean\nOslo,1,3.0\nRome,2,21.0\n")
finish()
