# Writes OUT: a C file that embeds each of FILES (paths relative to ROOT), with a NUL
# behind its bytes, and a table of them called TABLE (default: ls_embedded). The assembler
# reads the files, because large C arrays compile slowly.
if(NOT TABLE)
  set(TABLE ls_embedded)
endif()
set(blobs "")
set(names "")
set(rows "")
set(n 0)
foreach(f IN LISTS FILES)
  file(SIZE ${ROOT}/${f} size)
  string(APPEND blobs "\t\".balign 16\\n${TABLE}_${n}: .incbin \\\"${ROOT}/${f}\\\"\\n.byte 0\\n\"\n")
  string(APPEND names "extern const unsigned char ${TABLE}_${n}[] __attribute__((visibility(\"hidden\")));\n")
  string(APPEND rows "\t{\"${f}\", ${TABLE}_${n}, ${size}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"base/embed.h\"\n\n__asm__(\".pushsection .rodata\\n\"\n${blobs}\t\".popsection\");\n${names}
extern const struct ls_blob ${TABLE}[];\nconst struct ls_blob ${TABLE}[] = {\n${rows}\t{0, 0, 0},\n};\n")
