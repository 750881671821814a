# SPDX-License-Identifier: Apache-2.0
# docs/examples/vectors.c with a private daemon that it starts itself. y = A x of squares is -2 but at both ends. The
# directory has a short name, because it holds a socket.
execute_process(COMMAND mktemp -d /tmp/hac-test-XXXXXX OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${top}/run)
file(CHMOD ${top}/run PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(environment XDG_RUNTIME_DIR=${top}/run XDG_STATE_HOME=${top}/state XDG_CACHE_HOME=${top}/cache
  HAC_LIBEXEC=${LIBEXEC} HAC_SOCKET=)
set(failed "")
function(expect wanted)
  if(failed)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${EXAMPLE} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output STREQUAL wanted)
    set(failed "${ARGN}: ${result} ${output}${error}" PARENT_SCOPE)
  endif()
endfunction()
expect("0 0\n" 1)
expect("0 -1\n1 -2\n2 -2\n3 14\n" 4) # 2 x 9 - 4
set(long "0 -1\n")
foreach(row RANGE 1 998)
  string(APPEND long "${row} -2\n")
endforeach()
expect("${long}999 999998\n" 1000) # 2 x 999 x 999 - 998 x 998

# the daemon leaves when its socket's path is gone
file(REMOVE ${top}/run/hac/hacd.sock)
if(failed)
  file(GLOB log ${top}/state/hac/hacd.log)
  if(log)
    file(READ ${log} text)
  endif()
  message(FATAL_ERROR "${failed}\n${text}")
endif()
file(REMOVE_RECURSE ${top})
