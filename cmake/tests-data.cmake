# A real scipy (tools/venv), where the program is what users get; files it once wrote are
# in tests/data for everywhere else.
if(LS_USERS_BUILD)
  foreach(name convert formula)
    add_test(NAME cli.${name}-scipy COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR}
      ${CMAKE_SOURCE_DIR}/tests/scipy/${name}.sh)
    ls_label_from(${CMAKE_SOURCE_DIR}/tests/scipy/${name}.sh cli.${name}-scipy cli)
    set_tests_properties(cli.${name}-scipy PROPERTIES TIMEOUT 1800)
  endforeach()
endif()

# Gives a model file that a test has changed its checksum again.
add_executable(fm_seal tests/fm/seal.c)
target_link_libraries(fm_seal PRIVATE ls_core)
