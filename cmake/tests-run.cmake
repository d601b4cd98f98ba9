# Real PyTorch under `run` and `verify`: with what users get, the native release build. Label torch; one at a time, as each
# process takes seconds to import it.
if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT LS_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB torch_cases CONFIGURE_DEPENDS tests/run/*.sh)
  foreach(case ${torch_cases})
    get_filename_component(name ${case} NAME_WE)
    add_test(NAME torch.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR} ${case})
    set_tests_properties(torch.${name} PROPERTIES LABELS torch TIMEOUT 1800 SKIP_RETURN_CODE 77)
  endforeach()
endif()
