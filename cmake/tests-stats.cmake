# Statistics over seeds against scipy (tools/venv); the unit test has the numbers of some
# cases and needs no package.
if(LS_USERS_BUILD)
  add_executable(print_stats tests/stats/print_stats.c)
  target_link_libraries(print_stats PRIVATE ls_core)
  add_test(NAME torch.stats-scipy COMMAND ${CMAKE_SOURCE_DIR}/tests/stats/run $<TARGET_FILE:print_stats>)
  ls_label(torch.stats-scipy torch)
  set_tests_properties(torch.stats-scipy PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 COST -1)
endif()
