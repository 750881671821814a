# SPDX-License-Identifier: Apache-2.0
# Included by the tests of docs/examples: ${top} is a folder with all that a private daemon, which the example starts
# itself, keeps; its name is short, because it holds a socket. After a failure it stays. ${SEED} has device programs that
# were built before.
execute_process(COMMAND mktemp -d /tmp/hac-test-XXXXXX OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${top}/run)
file(CHMOD ${top}/run PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(COPY ${SEED}/programs DESTINATION ${top}/cache/hac DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(COPY ${SEED}/tested-devices DESTINATION ${top}/state/hac DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(failed "")

# expect(STREQUAL|MATCHES WANTED argument…): runs the example with standard input from ${input}, if that is set. After a
# failure nothing more is run.
function(expect compare wanted)
  if(failed)
    return()
  endif()
  if(input)
    set(from INPUT_FILE ${input})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env XDG_RUNTIME_DIR=${top}/run XDG_STATE_HOME=${top}/state
      XDG_CACHE_HOME=${top}/cache HAC_LIBEXEC=${LIBEXEC} HAC_SOCKET= ${EXAMPLE} ${ARGN} ${from}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT "${output}" ${compare} "${wanted}")
    set(failed "${ARGN}: ${result} ${output}${error}" PARENT_SCOPE)
  endif()
endfunction()

# The daemon leaves when its socket's path is gone.
function(finish)
  file(REMOVE ${top}/run/hac/hacd.sock)
  if(failed)
    file(GLOB log ${top}/state/hac/hacd.log)
    if(log)
      file(READ ${log} text)
    endif()
    message(FATAL_ERROR "${failed}\n${text}")
  endif()
  file(REMOVE_RECURSE ${top})
endfunction()
