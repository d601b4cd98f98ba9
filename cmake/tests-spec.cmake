# What `lockstep spec render` writes, judged by the tools that will read it (Python
# packages from tools/venv).
if(LS_USERS_BUILD)
  foreach(part tools boot)
    string(REPLACE tools check script ${part})
    add_test(NAME render.${part} COMMAND ${CMAKE_SOURCE_DIR}/tests/render/run ${CMAKE_BINARY_DIR} ${script})
    ls_label_from(${CMAKE_SOURCE_DIR}/tests/render/run render.${part} render)
    set_tests_properties(render.${part} PROPERTIES TIMEOUT 900)
  endforeach()
endif()
