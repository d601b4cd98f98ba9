# Writes OUT: a C file with the commit of ROOT, or COMMIT where that is given, as
# ls_build_commit. Empty: not known.
set(commit "${COMMIT}")
if(NOT commit AND EXISTS ${ROOT}/.git)
  execute_process(COMMAND git -C ${ROOT} describe --always --dirty --abbrev=12 --match=
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9A-Za-z._-]*$")
  message(FATAL_ERROR "the commit \"${commit}\" is not a name")
endif()
set(text "extern const char ls_build_commit[];\nconst char ls_build_commit[] = \"${commit}\";\n")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
