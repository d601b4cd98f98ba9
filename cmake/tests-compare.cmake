# Checkpoints made by the real libraries; with the build that users get, as the
# environment is native.
if(LS_USERS_BUILD)
  add_test(NAME cli.compare-real COMMAND ${CMAKE_SOURCE_DIR}/tests/tensor/run-real $<TARGET_FILE:lockstep>)
  ls_label_from(${CMAKE_SOURCE_DIR}/tests/tensor/run-real cli.compare-real cli)
  set_tests_properties(cli.compare-real PROPERTIES TIMEOUT 1800)
  # an archive beyond 4 GiB, in little room
  add_test(NAME cli.compare-zip64 COMMAND ${CMAKE_SOURCE_DIR}/tests/tensor/run-real $<TARGET_FILE:lockstep> zip64)
  ls_label(cli.compare-zip64 cli slow)
  set_tests_properties(cli.compare-zip64 PROPERTIES TIMEOUT 600)
  add_test(NAME cli.compare-browser COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/tensor/browser.py $<TARGET_FILE:lockstep>)
  ls_label(cli.compare-browser cli)
  set_tests_properties(cli.compare-browser PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
