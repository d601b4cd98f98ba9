# `lockstep validate` takes some ten seconds of CPU; the parts it is made of run everywhere in unit.test_validate.
if(LS_USERS_BUILD)
  add_test(NAME cli.validate COMMAND ${CMAKE_SOURCE_DIR}/tests/validate/run $<TARGET_FILE:lockstep>
    $<TARGET_FILE:sabotage_fused> $<TARGET_FILE:sabotage_order>)
  set_tests_properties(cli.validate PROPERTIES LABELS cli TIMEOUT 900)
endif()
