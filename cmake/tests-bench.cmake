# The programs that the figures in bench/ come from, and the proof that the workload is the one the figures were taken on.
add_executable(bench-read bench/read.c)
target_link_libraries(bench-read PRIVATE ls_core)
add_executable(bench-predict bench/predict.c)
target_link_libraries(bench-predict PRIVATE ls_core)
add_executable(bench-threads bench/threads.c)
target_link_libraries(bench-threads PRIVATE ls_core)
add_executable(ctr-gen bench/ctr-gen.c)
target_link_libraries(ctr-gen PRIVATE ls_flags)
add_test(NAME bitwise.ctr_gen COMMAND ${CMAKE_SOURCE_DIR}/tests/bench/ctr-gen $<TARGET_FILE:ctr-gen>)
set_tests_properties(bitwise.ctr_gen PROPERTIES LABELS bitwise TIMEOUT 300
  ENVIRONMENT "LS_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}")
add_test(NAME lint.data COMMAND ${CMAKE_SOURCE_DIR}/tests/data/make $<TARGET_FILE:ctr-gen> --check)
set_tests_properties(lint.data PROPERTIES LABELS lint)
