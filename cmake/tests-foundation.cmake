# What holds the foundation together: man pages against the command table, headers alone,
# installation, documentation.
function(ls_lint name)
  if(NOT CMAKE_CROSSCOMPILING AND NOT LS_SANITIZE)
    add_test(NAME lint.${name} COMMAND ${ARGN})
    ls_label(lint.${name} lint quick)
    set_tests_properties(lint.${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()

ls_lint(layers ${CMAKE_SOURCE_DIR}/tools/check-layers ${CMAKE_SOURCE_DIR})
ls_lint(man ${CMAKE_SOURCE_DIR}/tools/check-man $<TARGET_FILE:lockstep>)
ls_lint(headers ${CMAKE_SOURCE_DIR}/tools/check-headers ${CMAKE_BINARY_DIR})
if(TEST lint.headers) # some 300 compilations
  ls_label(lint.headers lint long)
endif()
ls_lint(cycles ${CMAKE_SOURCE_DIR}/tools/check-cycles ${CMAKE_BINARY_DIR})
ls_lint(size ${CMAKE_SOURCE_DIR}/tools/check-size)
ls_lint(comments ${CMAKE_SOURCE_DIR}/tools/check-comments)

# These use what users get: the native release build.
if(LS_USERS_BUILD)
  add_test(NAME cli.install COMMAND ${CMAKE_SOURCE_DIR}/tests/install/run ${CMAKE_BINARY_DIR})
  add_test(NAME cli.docs COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/run ${CMAKE_BINARY_DIR})
  ls_label(cli.install cli)
  ls_label(cli.docs cli long)
  set_tests_properties(cli.install cli.docs PROPERTIES TIMEOUT 300)
endif()
