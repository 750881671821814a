# SPDX-License-Identifier: Apache-2.0
# docs/examples/splice.c with a private daemon that it starts itself: files, one of them compressed, and standard input.
# The directory has a short name, because it holds a socket.
execute_process(COMMAND mktemp -d /tmp/hac-test-XXXXXX OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${top}/run)
file(CHMOD ${top}/run PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(environment XDG_RUNTIME_DIR=${top}/run XDG_STATE_HOME=${top}/state XDG_CACHE_HOME=${top}/cache
  HAC_LIBEXEC=${LIBEXEC} HAC_SOCKET=)
file(WRITE ${top}/a.csv "city,temperature\nRome,20.5\nOslo,3\nRome,21.5\n")
file(WRITE ${top}/b.csv "temperature,city\n5,Oslo\n\"7.5\",\"Bergen\"\n") # in another order
execute_process(COMMAND gzip ${top}/b.csv COMMAND_ERROR_IS_FATAL ANY)

set(failed "")
function(expect wanted)
  if(failed)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${EXAMPLE} ${ARGN} INPUT_FILE ${top}/a.csv
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT output STREQUAL wanted)
    set(failed "${ARGN}: ${result} ${output}${error}" PARENT_SCOPE)
  endif()
endfunction()
expect("city,readings,mean\nBergen,1,7.5\nOslo,2,4.0\nRome,2,21.0\n" ${top}/a.csv ${top}/b.csv.gz)
expect("city,temperature\nRome,20.5\nRome,21.5\nBergen,7.5\n" -w 6 ${top}/a.csv ${top}/b.csv.gz)
expect("city,readings,mean\nOslo,1,3.0\nRome,2,21.0\n")

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
