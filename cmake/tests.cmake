# The tests. What runs where is a label beside each test: cmake/labels.cmake.
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
include(cmake/labels.cmake)

# The build that users get: what asks nothing of the compiler or a sanitizer is tested
# here and nowhere else.
set(LS_USERS_BUILD OFF)
if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT LS_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(LS_USERS_BUILD ON)
endif()

# With the address sanitizer all unit tests are one program and run as one test
# (tests/unit/all.c), so that one leak check does for all of them. Each of them alone,
# which only repeats that, runs there under --full.
set(LS_UNITS_IN_ONE OFF)
if(LS_SANITIZE MATCHES address)
  set(LS_UNITS_IN_ONE ON)
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
  ls_label_from(${src} unit.${name} unit)
  if(LS_UNITS_IN_ONE)
    ls_label(unit.${name} unit once)
  endif()
  foreach(place threads isa)
    get_test_property(unit.${name} LABELS labels)
    if(place IN_LIST labels)
      add_dependencies(tests-${place} ${name})
    endif()
  endforeach()
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 300)
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
  ls_label(unit.leaks unit long)
  set_tests_properties(unit.leaks PROPERTIES TIMEOUT 900)
endif()

# a library, because the unit tests that share these may be one program
add_library(exact_trials STATIC EXCLUDE_FROM_ALL tests/exact/op_trials.c tests/exact/sum_trials.c)
target_link_libraries(exact_trials PUBLIC ls_core)
foreach(name test_exact_ops test_exact_conv test_exact_rows)
  target_link_libraries(${name} PRIVATE exact_trials)
endforeach()

# A CLI case is tests/cli/cases/<group>/<name>.sh with <name>.exit, <name>.stdout and, if
# wanted, <name>.stderr beside it.
file(GLOB_RECURSE cases CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests/cli/cases tests/cli/cases/*.sh)
foreach(case ${cases})
  string(REGEX REPLACE "\\.sh$" "" name ${case})
  string(REPLACE "/" "." name ${name})
  add_test(NAME cli.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/run --build ${CMAKE_BINARY_DIR}
    ${CMAKE_SOURCE_DIR}/tests/cli/cases/${case})
  ls_label_from(${CMAKE_SOURCE_DIR}/tests/cli/cases/${case} cli.${name} cli)
  set_tests_properties(cli.${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "LS_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}")
endforeach()

# One fuzz target a parser: tests/fuzz/fuzz_<parser>.c with a corpus in
# tests/fuzz/corpus/<parser>/. Without libFuzzer the same file is linked with a small
# driver that replays the corpus: in the release build, which is what users get.
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
  ls_label(fuzz.${parser} fuzz)
  set_tests_properties(fuzz.${parser} PROPERTIES TIMEOUT 900)
endforeach()

# further tests come from files of their own, one a subject
file(GLOB more CONFIGURE_DEPENDS cmake/tests-*.cmake)
foreach(f ${more})
  include(${f})
endforeach()
