# The arithmetic: MPFR for the right answers, every input under ./check --full, PTX as
# nvcc writes it.
pkg_check_modules(mpfr REQUIRED IMPORTED_TARGET mpfr)
target_link_libraries(test_num PRIVATE PkgConfig::mpfr)
if(CMAKE_CROSSCOMPILING AND NOT LS_FULL)
  set_tests_properties(unit.test_num PROPERTIES ENVIRONMENT LS_NUM_BY_DIGEST=1)
endif()

# The same digests from wider vectors, and where fma exists for a compiler to misuse. SVE
# is not everywhere: the test is made where this machine has it, and for the emulator,
# which has.
set(wide)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(wide -mavx2 -mfma)
else()
  file(STRINGS /proc/cpuinfo sve REGEX "^Features.* sve( |$)" LIMIT_COUNT 1)
  if(sve OR CMAKE_CROSSCOMPILING)
    set(wide -march=armv8.2-a+sve)
  endif()
endif()
if(wide)
  add_executable(test_num_golden_wide tests/unit/test_num_golden.c)
  target_link_libraries(test_num_golden_wide PRIVATE ls_core PkgConfig::cmocka)
  target_compile_definitions(test_num_golden_wide PRIVATE LS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(test_num_golden_wide PRIVATE ${wide})
  add_test(NAME unit.test_num_golden_wide COMMAND test_num_golden_wide)
  ls_label(unit.test_num_golden_wide unit isa)
  add_dependencies(tests-isa test_num_golden_wide)
  set_tests_properties(unit.test_num_golden_wide PROPERTIES TIMEOUT 300 ENVIRONMENT QEMU_CPU=max)
endif()

add_executable(num_exhaustive tests/num_exhaustive.c)
target_link_libraries(num_exhaustive PRIVATE ls_core PkgConfig::mpfr m)
add_test(NAME slow.num_exhaustive
  COMMAND sh -c "[ \"$LS_FULL\" = 1 ] || { echo 'only under ./check --full'; exit 77; }; exec \"$0\"" $<TARGET_FILE:num_exhaustive>)
ls_label(slow.num_exhaustive unit slow)
set_tests_properties(slow.num_exhaustive PROPERTIES TIMEOUT 7200 SKIP_RETURN_CODE 77)

add_test(NAME lint.ptx COMMAND ${CMAKE_SOURCE_DIR}/tests/ptx/run ${CMAKE_SOURCE_DIR})
ls_label(lint.ptx lint)
set_tests_properties(lint.ptx PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)

add_executable(bench_num bench/num.c)
target_link_libraries(bench_num PRIVATE ls_core)
add_executable(bench_core bench/core.c)
target_link_libraries(bench_core PRIVATE ls_core)
