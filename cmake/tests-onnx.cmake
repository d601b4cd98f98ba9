# Exported models in ONNX Runtime (tools/venv), with the build that users get.
if(LS_USERS_BUILD)
  add_test(NAME cli.fm-onnx COMMAND ${CMAKE_SOURCE_DIR}/tests/onnx/run $<TARGET_FILE:lockstep>)
  ls_label_from(${CMAKE_SOURCE_DIR}/tests/onnx/run cli.fm-onnx cli)
  set_tests_properties(cli.fm-onnx PROPERTIES TIMEOUT 1800)
endif()
