# The local engine under kill -9: some kills in every gate, 200 in a full run.
if(NOT CMAKE_CROSSCOMPILING)
  add_test(NAME cli.job-kills COMMAND ${CMAKE_SOURCE_DIR}/tests/job/kills $<TARGET_FILE:lockstep> 10)
  ls_label(cli.job-kills cli)
  set_tests_properties(cli.job-kills PROPERTIES TIMEOUT 600)
  add_test(NAME cli.job-kills-200 COMMAND ${CMAKE_SOURCE_DIR}/tests/job/kills $<TARGET_FILE:lockstep> 200)
  ls_label(cli.job-kills-200 cli slow)
  set_tests_properties(cli.job-kills-200 PROPERTIES TIMEOUT 3600)
endif()
# Files of metrics that the real libraries write (tools/venv).
if(LS_USERS_BUILD)
  add_test(NAME torch.job-real-writers COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR}
    ${CMAKE_SOURCE_DIR}/tests/job/real-writers.sh)
  ls_label_from(${CMAKE_SOURCE_DIR}/tests/job/real-writers.sh torch.job-real-writers torch)
  set_tests_properties(torch.job-real-writers PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
# The page of exp compare in a real browser.
if(LS_USERS_BUILD)
  add_test(NAME cli.exp-browser COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/job/page.py $<TARGET_FILE:lockstep>)
  ls_label(cli.exp-browser cli once)
  set_tests_properties(cli.exp-browser PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
