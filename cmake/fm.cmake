# src/fm/cpu/kern/kern.c is compiled once an instruction set: ls_kern_dispatch chooses at
# run time. All builds give the same bytes.
set(kern_isas baseline)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  if(LS_FULL OR NOT LS_SANITIZE STREQUAL thread) # threads meet outside of the vector code
    list(APPEND kern_isas avx2)
  endif()
  if(NOT LS_SANITIZE) # over a minute of clang's more, for the same code by other vectors
    list(APPEND kern_isas avx512)
  endif()
  set(kern_flags_avx2 -mavx2 -mfma -mprfchw)
  set(kern_flags_avx512 -mavx2 -mfma -mprfchw -mavx512f -mavx512dq -mavx512vl -mavx512bw)
endif()
# Of the checks for undefined behaviour two have no message, the program just ends there:
# some 36 s of clang instead of 62.
set(kern_sanitize)
if(LS_SANITIZE MATCHES undefined)
  set(kern_sanitize -fsanitize-trap=pointer-overflow,alignment)
endif()
foreach(isa ${kern_isas})
  add_library(ls_kern_${isa} OBJECT src/fm/cpu/kern/kern.c)
  target_link_libraries(ls_kern_${isa} PRIVATE ls_flags)
  target_compile_definitions(ls_kern_${isa} PRIVATE LS_KERN_NAME=${isa})
  target_compile_options(ls_kern_${isa} PRIVATE ${kern_flags_${isa}} ${kern_sanitize} $<$<CONFIG:Release>:-O3>)
  target_sources(ls_core PRIVATE $<TARGET_OBJECTS:ls_kern_${isa}>)
  string(TOUPPER ${isa} upper)
  target_compile_definitions(ls_core PRIVATE LS_HAVE_KERN_${upper})
endforeach()
