# What `lockstep spec render` writes, judged by the tools that will read it (Python packages from tools/venv).
if(NOT CMAKE_CROSSCOMPILING)
  add_test(NAME render.tools COMMAND ${CMAKE_SOURCE_DIR}/tests/render/run ${CMAKE_BINARY_DIR})
  set_tests_properties(render.tools PROPERTIES LABELS render TIMEOUT 900)
endif()
