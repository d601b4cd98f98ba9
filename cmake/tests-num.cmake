# The arithmetic: MPFR for the right answers, every input under ./check --full, PTX as nvcc writes it.
pkg_check_modules(mpfr REQUIRED IMPORTED_TARGET mpfr)
target_link_libraries(test_num PRIVATE PkgConfig::mpfr)

add_executable(num_exhaustive tests/num_exhaustive.c)
target_link_libraries(num_exhaustive PRIVATE ls_core PkgConfig::mpfr m)
add_test(NAME slow.num_exhaustive
  COMMAND sh -c "[ \"$LS_FULL\" = 1 ] || { echo 'only under ./check --full'; exit 77; }; exec \"$0\"" $<TARGET_FILE:num_exhaustive>)
set_tests_properties(slow.num_exhaustive PROPERTIES LABELS slow TIMEOUT 7200 SKIP_RETURN_CODE 77)

add_test(NAME lint.ptx COMMAND ${CMAKE_SOURCE_DIR}/tests/ptx/run ${CMAKE_SOURCE_DIR})
set_tests_properties(lint.ptx PROPERTIES LABELS lint TIMEOUT 300 SKIP_RETURN_CODE 77)

add_executable(bench_num bench/num.c)
target_link_libraries(bench_num PRIVATE ls_core)
