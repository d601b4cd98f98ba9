# What `lockstep spec render` writes, judged by the tools that will read it (Python
# packages from tools/venv).
if(LS_USERS_BUILD)
  add_test(NAME render.tools COMMAND ${CMAKE_SOURCE_DIR}/tests/render/run ${CMAKE_BINARY_DIR})
  ls_label_from(${CMAKE_SOURCE_DIR}/tests/render/run render.tools render)
  set_tests_properties(render.tools PROPERTIES TIMEOUT 900)
endif()
