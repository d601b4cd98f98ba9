# The value of an option is printed whole, and letters beyond ASCII keep the columns.
lockstep monitor --help | grep -e '^  *--print-config ' -e '^  *--peers '
lockstep exp --help | tail -1
