# The files of src/exact/cpu that are in the loop below are compiled once an
# instruction set: ls_exact_kern_find chooses at run time. All builds give the same bits.
set(exact_flags_avx2 -mavx2 -mfma -mf16c)
set(exact_flags_avx512 ${exact_flags_avx2} -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512)
set(exact_isas baseline)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND exact_isas avx2 avx512)
endif()
# Sums of whole numbers in tile.c are exact, fused or not.
set_source_files_properties(src/exact/cpu/tile.c PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
foreach(isa ${exact_isas})
  add_library(ls_exact_${isa} OBJECT src/exact/cpu/kern.c src/exact/cpu/tile.c src/exact/cpu/elem.c
    src/exact/cpu/reduce_kern.c src/exact/cpu/rows_kern.c src/exact/cpu/conv_kern.c)
  target_link_libraries(ls_exact_${isa} PRIVATE ls_flags)
  target_compile_definitions(ls_exact_${isa} PRIVATE LS_KERN_NAME=${isa})
  target_compile_options(ls_exact_${isa} PRIVATE ${exact_flags_${isa}} $<$<CONFIG:Release>:-O3>)
  target_sources(ls_core PRIVATE $<TARGET_OBJECTS:ls_exact_${isa}>)
endforeach()
