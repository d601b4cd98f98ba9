# One table of digests (tests/bitwise/golden.txt), seen from every side. Under emulation (preset cross) each run is slow,
# so there the table is taken once whole, and its adagrad rows again with other threads.
set(bitwise ${CMAKE_SOURCE_DIR}/tests/bitwise)
set(program "$<TARGET_FILE:lockstep>")
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(program "${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:lockstep>")
endif()

function(bitwise_test name)
  add_test(NAME bitwise.${name} COMMAND ${ARGN})
  set_tests_properties(bitwise.${name} PROPERTIES LABELS bitwise TIMEOUT 900)
endfunction()

bitwise_test(threads-2 ${bitwise}/check "${program}" --threads 2)
foreach(threads 1 3 7)
  bitwise_test(threads-${threads} ${bitwise}/check "${program}" --threads ${threads})
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set_tests_properties(bitwise.threads-${threads} PROPERTIES ENVIRONMENT "LS_TABLE_ONLY=adagrad")
  endif()
endforeach()
