# CTest labels: unit (C, cmocka), cli (a script a case), bitwise (golden digests), fuzz, lint, slow.
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)

# What is costly and asks nothing of compiler or sanitizer runs once, with the program that users get.
set(LS_USERS_BUILD OFF)
if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT LS_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(LS_USERS_BUILD ON)
endif()

# With the address sanitizer they are one program, so that one leak check does for all of them (tests/unit/all.c). It runs
# them all; each alone would only repeat that.
set(LS_UNITS_IN_ONE OFF)
set(unit_labels unit)
if(LS_SANITIZE MATCHES address)
  set(LS_UNITS_IN_ONE ON)
  set(unit_labels "unit;costly")
endif()
file(GLOB unit_sources CONFIGURE_DEPENDS tests/unit/test_*.c)
set(units)
foreach(src ${unit_sources})
  get_filename_component(name ${src} NAME_WE)
  if(LS_UNITS_IN_ONE)
    add_library(${name} OBJECT ${src})
    target_compile_definitions(${name} PRIVATE main=main_${name})
    target_compile_options(${name} PRIVATE -include ${CMAKE_BINARY_DIR}/units.h)
    string(APPEND units " \\\n\tUNIT(${name})")
    add_test(NAME unit.${name} COMMAND units ${name})
  else()
    add_executable(${name} ${src})
    add_test(NAME unit.${name} COMMAND ${name})
  endif()
  target_link_libraries(${name} PRIVATE ls_core PkgConfig::cmocka)
  target_compile_definitions(${name} PRIVATE LS_SOURCE_DIR="${CMAKE_SOURCE_DIR}" LS_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_tests_properties(unit.${name} PROPERTIES LABELS "${unit_labels}" TIMEOUT 300)
endforeach()
if(LS_UNITS_IN_ONE)
  string(REGEX REPLACE " [^(]*\\(([a-z_0-9]+)\\)" "int main_\\1(void);\n" declarations "${units}")
  file(CONFIGURE OUTPUT units.h CONTENT "${declarations}#define UNITS${units}\n" @ONLY)
  add_executable(units tests/unit/all.c)
  set_target_properties(units PROPERTIES ENABLE_EXPORTS ON)
  target_compile_options(units PRIVATE -include ${CMAKE_BINARY_DIR}/units.h)
  list(TRANSFORM unit_sources REPLACE ".*/(.*)\\.c$" "\\1" OUTPUT_VARIABLE names)
  target_link_libraries(units PRIVATE ls_flags ${names})
  add_test(NAME unit.leaks COMMAND units)
  set_tests_properties(unit.leaks PROPERTIES LABELS unit TIMEOUT 900)
endif()

# A CLI case is tests/cli/cases/<group>/<name>.sh with <name>.exit, <name>.stdout and, if wanted, <name>.stderr beside it.
file(GLOB_RECURSE cases CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests/cli/cases tests/cli/cases/*.sh)
foreach(case ${cases})
  string(REGEX REPLACE "\\.sh$" "" name ${case})
  string(REPLACE "/" "." name ${name})
  add_test(NAME cli.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR}
    ${CMAKE_SOURCE_DIR}/tests/cli/cases/${case})
  set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "LS_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}")
endforeach()

# One fuzz target a parser: tests/fuzz/fuzz_<parser>.c with a corpus in tests/fuzz/corpus/<parser>/. Without libFuzzer
# the same file is linked with a small driver that replays the corpus: in the release build, which is what users get.
set(fuzz_sources)
if(LS_FUZZ OR LS_USERS_BUILD)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
endif()
foreach(src ${fuzz_sources})
  get_filename_component(name ${src} NAME_WE)
  string(REPLACE "fuzz_" "" parser ${name})
  add_executable(${name} ${src})
  target_link_libraries(${name} PRIVATE ls_core)
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${parser})
  if(LS_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${parser} COMMAND ${CMAKE_SOURCE_DIR}/tests/fuzz/run $<TARGET_FILE:${name}> ${corpus})
  else()
    target_sources(${name} PRIVATE tests/fuzz/replay.c)
    add_test(NAME fuzz.${parser} COMMAND ${name} ${corpus})
  endif()
  set_tests_properties(fuzz.${parser} PROPERTIES LABELS fuzz TIMEOUT 900)
endforeach()

add_test(NAME lint.layers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-layers ${CMAKE_SOURCE_DIR})
set_tests_properties(lint.layers PROPERTIES LABELS lint)
# further tests come from files of their own, one a subject
file(GLOB more CONFIGURE_DEPENDS cmake/tests-*.cmake)
foreach(f ${more})
  include(${f})
endforeach()

# Where no earlier run is known, as in CI, the long ones begin first, so that none is left alone on one core at the end; and those
# that need the Python packages, which are still being fetched then, come last, the longest of them first.
foreach(test gpu-build.cuda_fm.nvcc gpu-build.cuda_fm.nvrtc gpu-build.cuda_fwfm.nvcc gpu-build.cuda_fwfm.nvrtc cli.docs cli.validate
    bitwise.cuda.streams.shuffle bitwise.cuda.golden bitwise.threads-2 bitwise.threads-3 bitwise.threads-16
    bitwise.online-threads-2 bitwise.online-threads-3 bitwise.online-baseline bitwise.ways unit.test_fm_online unit.test_fm_wide
    unit.test_num unit.test_workers unit.test_crew unit.leaks cli.fm.interrupt)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST 10)
  endif()
endforeach()
set(cost 0)
foreach(test torch.run-bisect torch.run-verify-frameworks torch.run-verify-cnn cli.compare-real render.tools torch.run-launchers
    torch.run-undone torch.run-jax torch.run-schema cli.doctor-deep-torch cli.doctor-report-schema cli.convert-scipy cli.bench_run)
  if(TEST ${test})
    math(EXPR cost "${cost} - 1")
    set_tests_properties(${test} PROPERTIES COST ${cost})
  endif()
endforeach()
