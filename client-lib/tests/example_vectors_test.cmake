# SPDX-License-Identifier: Apache-2.0
# docs/examples/vectors.c: y = A x of squares is -2 but at both ends.
include(${CMAKE_CURRENT_LIST_DIR}/example_daemon.cmake)
expect(STREQUAL "0 0\n" 1)
expect(STREQUAL "0 -1\n1 -2\n2 -2\n3 14\n" 4) # 2 x 9 - 4
set(long "0 -1\n")
foreach(row RANGE 1 998)
  string(APPEND long "${row} -2\n")
endforeach()
expect(STREQUAL "${long}999 999998\n" 1000) # 2 x 999 x 999 - 998 x 998
finish()
