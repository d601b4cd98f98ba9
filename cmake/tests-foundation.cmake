# What holds the foundation together: man pages against the command table, headers alone, installation, documentation.
function(ls_lint name)
  add_test(NAME lint.${name} COMMAND ${ARGN})
  set_tests_properties(lint.${name} PROPERTIES LABELS lint TIMEOUT 300)
endfunction()

ls_lint(man ${CMAKE_SOURCE_DIR}/tools/check-man $<TARGET_FILE:lockstep>)
ls_lint(headers ${CMAKE_SOURCE_DIR}/tools/check-headers ${CMAKE_BINARY_DIR})
ls_lint(size ${CMAKE_SOURCE_DIR}/tools/check-size)

# These use what users get: the native release build.
if(LS_USERS_BUILD)
  add_test(NAME cli.install COMMAND ${CMAKE_SOURCE_DIR}/tests/install/run ${CMAKE_BINARY_DIR})
  add_test(NAME cli.docs COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/run ${CMAKE_BINARY_DIR})
  set_tests_properties(cli.install cli.docs PROPERTIES LABELS cli TIMEOUT 300)
endif()
