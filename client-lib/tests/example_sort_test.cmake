# SPDX-License-Identifier: Apache-2.0
# The example, with a private daemon that it starts itself: small enough for a message, and beyond. The directory
# has a short name, because it holds a socket.
execute_process(COMMAND mktemp -d /tmp/hac-test-XXXXXX OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${top}/run)
file(CHMOD ${top}/run PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(environment XDG_RUNTIME_DIR=${top}/run XDG_STATE_HOME=${top}/state XDG_CACHE_HOME=${top}/cache
  HAC_LIBEXEC=${LIBEXEC} HAC_SOCKET=)
set(failed "")
foreach(items 1 1000 1000000)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${EXAMPLE} ${items}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output MATCHES "^${items} numbers, job [0-9]+: sorted")
    set(failed "${items}: ${result} ${output}${error}")
    break()
  endif()
endforeach()
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
