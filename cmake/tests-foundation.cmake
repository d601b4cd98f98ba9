# What holds the foundation together: man pages against the command table.
add_test(NAME lint.man COMMAND ${CMAKE_SOURCE_DIR}/tools/check-man $<TARGET_FILE:lockstep>)
set_tests_properties(lint.man PROPERTIES LABELS lint)
