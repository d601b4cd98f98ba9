# Programs that the figures in bench/ come from.
add_executable(bench-read bench/read.c)
target_link_libraries(bench-read PRIVATE ls_core)
