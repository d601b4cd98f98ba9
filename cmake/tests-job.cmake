# The local engine under kill -9: some kills in every gate, 200 in a full run.
if(NOT CMAKE_CROSSCOMPILING)
  add_test(NAME cli.job-kills COMMAND ${CMAKE_SOURCE_DIR}/tests/job/kills $<TARGET_FILE:lockstep> 10)
  ls_label(cli.job-kills cli)
  set_tests_properties(cli.job-kills PROPERTIES TIMEOUT 600)
  add_test(NAME cli.job-kills-200 COMMAND ${CMAKE_SOURCE_DIR}/tests/job/kills $<TARGET_FILE:lockstep> 200)
  ls_label(cli.job-kills-200 cli slow)
  set_tests_properties(cli.job-kills-200 PROPERTIES TIMEOUT 3600)
endif()
