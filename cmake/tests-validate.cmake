# `lockstep validate` takes some ten seconds of CPU; the parts it is made of run
# everywhere in unit.test_validate. One program that is wrong shows what is said of one;
# bitwise.sabotage-* shows that the table finds both.
if(LS_USERS_BUILD)
  set(wrong $<TARGET_FILE:sabotage_fused>)
  if(LS_FULL)
    list(APPEND wrong $<TARGET_FILE:sabotage_order>)
  endif()
  add_test(NAME cli.validate COMMAND ${CMAKE_SOURCE_DIR}/tests/validate/run $<TARGET_FILE:lockstep> ${wrong})
  ls_label(cli.validate cli long)
  set_tests_properties(cli.validate PROPERTIES TIMEOUT 900)
endif()

# The same on another machine: tools/validate-on and the notebook's cells, with a stand-in
# program and an sshd of the test.
add_test(NAME cli.validate-on COMMAND ${CMAKE_SOURCE_DIR}/tests/validate/on.sh)
ls_label(cli.validate-on cli once)
set_tests_properties(cli.validate-on PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
