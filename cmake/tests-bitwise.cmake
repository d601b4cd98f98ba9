# Two tables of digests (tests/bitwise/golden.txt, and golden-many.txt of more rows, made
# for it), seen from every side. Under emulation (preset cross) each run is slow, so there
# a table is taken once whole, and its adagrad rows again with other threads; whole with
# three, because two on two cores, where another test runs beside them, spend half of
# their time on waiting for each other. What release has shown and another build would
# only repeat is labelled costly, as everywhere.
set(bitwise ${CMAKE_SOURCE_DIR}/tests/bitwise)
set(program "$<TARGET_FILE:lockstep>")
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(program "${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:lockstep>")
endif()

function(bitwise_test name)
  add_test(NAME bitwise.${name} COMMAND ${ARGN})
  ls_label(bitwise.${name} bitwise)
  set_tests_properties(bitwise.${name} PROPERTIES TIMEOUT 900)
endfunction()

function(costly) # release alone, as every test without a label
endfunction()

set(counts 1 2 3 7 16)
if(LS_SANITIZE STREQUAL thread)
  set(counts 2 16) # the others are other builds' affair
endif()
foreach(threads ${counts})
  bitwise_test(threads-${threads} ${bitwise}/check "${program}" --threads ${threads})
  if(CMAKE_CROSSCOMPILING_EMULATOR AND NOT threads EQUAL 3)
    set_tests_properties(bitwise.threads-${threads} PROPERTIES ENVIRONMENT "LS_TABLE_ONLY=adagrad")
  endif()
endforeach()
if(LS_SANITIZE STREQUAL thread)
  costly(threads-2) # more threads meet in sixteen
elseif(CMAKE_CROSSCOMPILING_EMULATOR OR CMAKE_BUILD_TYPE STREQUAL Debug)
  # slow there: only with three and sixteen threads
  costly(threads-1 threads-2 threads-7)
endif()

# Of many rows: where a worker's share has fewer entries than the batch, and a grid must
# not show it. All of them with the program that users get, and once with clang; where
# code is slow, some.
set(generator "$<TARGET_FILE:ctr-gen>")
set(many ".")
set(counts 3)
if(LS_USERS_BUILD OR LS_FULL)
  set(counts 1 2 3 7)
endif()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(generator "${CMAKE_CROSSCOMPILING_EMULATOR} ${generator}")
endif()
if(NOT LS_FULL AND (CMAKE_CROSSCOMPILING_EMULATOR OR LS_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug))
  set(many "many-fm-(adagrad|blocks)")
endif()
function(many_test name)
  bitwise_test(many-${name} ${bitwise}/many ${ARGN})
  set_tests_properties(bitwise.many-${name} PROPERTIES ENVIRONMENT "LS_TABLE_ONLY=${many}")
endfunction()
foreach(threads ${counts})
  many_test(threads-${threads} "${program}" "${generator}" --threads ${threads})
endforeach()

bitwise_test(ways ${bitwise}/ways "${program}")
foreach(form gz lsd npz accum) # of readers and options, which no compiler decides
  bitwise_test(form-${form} ${bitwise}/forms "${program}" ${form} --threads 2)
  costly(form-${form})
endforeach()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  costly(ways)
endif()

set_source_files_properties(tests/bitwise/kern_fused.c PROPERTIES COMPILE_OPTIONS
  "-O1$<$<C_COMPILER_ID:GNU>:;-fexpensive-optimizations>;-ffp-contract=fast$<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:;-mfma>") # the least with which gcc fuses
# Quickly compiled. What takes or returns wide vectors is called from this file alone.
set_source_files_properties(tests/bitwise/kern_order.c tests/bitwise/kern_wide.c PROPERTIES
  COMPILE_OPTIONS "-Og;-Wno-psabi")
if(NOT CMAKE_CROSSCOMPILING)
  bitwise_test(kill ${bitwise}/kill $<TARGET_FILE:lockstep>)
  costly(kill) # when a file has which content does not depend on the compiler

  # Programs with other kernels: as wide as AVX-512's, and wrong on purpose, a*b+c fused
  # into one rounding or the factors summed in another order. They ask the table, not the
  # compiler: elsewhere than in the build that users get only ./check --full makes them.
  if(LS_USERS_BUILD OR LS_FULL)
    function(with_kernels name file)
      add_executable(${name} $<TARGET_OBJECTS:ls_cmds> ${file})
      target_link_libraries(${name} PRIVATE ls_core)
    endfunction()
    add_library(kern_wide OBJECT tests/bitwise/kern_wide.c)
    target_link_libraries(kern_wide PRIVATE ls_flags)
    with_kernels(wide_kernels $<TARGET_OBJECTS:kern_wide>)
    bitwise_test(wide ${bitwise}/check $<TARGET_FILE:wide_kernels> --threads 2 --kernels baseline)
    set_tests_properties(bitwise.wide PROPERTIES ENVIRONMENT "LS_TABLE_ONLY=fwfm|adagrad")
    add_executable(test_fm_wide_lanes tests/unit/test_fm_wide.c $<TARGET_OBJECTS:kern_wide>)
    target_link_libraries(test_fm_wide_lanes PRIVATE ls_core PkgConfig::cmocka)
    bitwise_test(wide-rows $<TARGET_FILE:test_fm_wide_lanes>)
    costly(wide wide-rows)
    foreach(way fused order)
      with_kernels(sabotage_${way} tests/bitwise/kern_${way}.c)
      bitwise_test(sabotage-${way} ${bitwise}/sabotaged $<TARGET_FILE:sabotage_${way}>)
      costly(sabotage-${way})
    endforeach()
  endif()
endif()

# The other builds of the kernels, natively where this machine has the instructions, else
# under emulation.
if(CMAKE_CROSSCOMPILING AND LS_FULL) # that they compile there
  add_library(other_kernels OBJECT tests/bitwise/kern_fused.c tests/bitwise/kern_order.c tests/bitwise/kern_wide.c)
  target_link_libraries(other_kernels PRIVATE ls_flags)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  foreach(isa baseline avx2)
    set(there "qemu-x86_64-static -cpu max $<TARGET_FILE:lockstep>")
    if(isa STREQUAL baseline AND NOT CMAKE_CROSSCOMPILING)
      set(there $<TARGET_FILE:lockstep>)
    endif()
    bitwise_test(${isa} ${bitwise}/check "${there}" --threads 3 --kernels ${isa})
    set_tests_properties(bitwise.${isa} PROPERTIES ENVIRONMENT "LS_TABLE_ONLY=adagrad")
  endforeach()
  costly(avx2) # the emulator's own choice, with which preset cross takes the whole tables
endif()

# Release and --full run all of the above. These are what other compilers and processors
# could get wrong.
ls_label(bitwise.threads-16 bitwise threads)
if(TEST bitwise.threads-3)
  ls_label(bitwise.threads-3 bitwise quick golden isa long)
endif()
ls_label(bitwise.many-threads-3 bitwise golden threads isa)
foreach(place golden threads isa)
  add_dependencies(tests-${place} ctr-gen)
endforeach()
if(TEST bitwise.baseline)
  ls_label(bitwise.baseline bitwise isa)
endif()
