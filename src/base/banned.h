/* Functions that this tree does not use: calling one is an error. The build includes this
 * file before every file of src/; nobody includes it by hand. Owns nothing; nothing here
 * runs.
 * These are function-like macros and not #pragma poison, because a system header may use
 * such a name for a parameter, and format(printf, …) must stay legal. The headers that
 * declare the functions come first. */
#ifndef LS_BASE_BANNED_H
#define LS_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nothing bounds what is written. Use snprintf, memcpy with a checked size, struct
 * ls_str. */
#undef strcpy
#define strcpy(...) ls_banned_strcpy
#undef strcat
#define strcat(...) ls_banned_strcat
#undef stpcpy
#define stpcpy(...) ls_banned_stpcpy
#undef sprintf
#define sprintf(...) ls_banned_sprintf
#undef vsprintf
#define vsprintf(...) ls_banned_vsprintf
#undef gets
#define gets(...) ls_banned_gets
/* The result may lack its terminating NUL. */
#undef strncpy
#define strncpy(...) ls_banned_strncpy
#undef strncat
#define strncat(...) ls_banned_strncat
/* Hidden state shared by all threads. Use strtok_r, gmtime_r, localtime_r, strftime. */
#undef strtok
#define strtok(...) ls_banned_strtok
#undef gmtime
#define gmtime(...) ls_banned_gmtime
#undef localtime
#define localtime(...) ls_banned_localtime
#undef ctime
#define ctime(...) ls_banned_ctime
#undef asctime
#define asctime(...) ls_banned_asctime
/* Errors are not reported. Use ls_str_to_… or strtol with its checks. */
#undef atoi
#define atoi(...) ls_banned_atoi
#undef atol
#define atol(...) ls_banned_atol
#undef atoll
#define atoll(...) ls_banned_atoll
#undef atof
#define atof(...) ls_banned_atof
/* Randomness is a function of seed and index (src/num), never a stream. */
#undef rand
#define rand(...) ls_banned_rand
#undef srand
#define srand(...) ls_banned_srand
#undef random
#define random(...) ls_banned_random
#undef srandom
#define srandom(...) ls_banned_srandom
#undef drand48
#define drand48(...) ls_banned_drand48
#undef lrand48
#define lrand48(...) ls_banned_lrand48
/* A shell between us and the program (use ls_proc), and temporary names that another
 * process may take first (use ls_file or mkstemp). */
#undef system
#define system(...) ls_banned_system
#undef popen
#define popen(...) ls_banned_popen
#undef mktemp
#define mktemp(...) ls_banned_mktemp
#undef tmpnam
#define tmpnam(...) ls_banned_tmpnam
#undef tempnam
#define tempnam(...) ls_banned_tempnam

/* The library never prints, exits or reads the environment; src/cmd/ does. An exception
 * is a call in parentheses, (getenv)("PATH"), with its reason beside it. */
#if defined(LS_LIBRARY)
#define printf(...)  ls_banned_in_the_library_printf
#define vprintf(...) ls_banned_in_the_library_vprintf
#define puts(...)    ls_banned_in_the_library_puts
#undef putchar
#define putchar(...)  ls_banned_in_the_library_putchar
#define perror(...)   ls_banned_in_the_library_perror
#define exit(...)     ls_banned_in_the_library_exit
#define _exit(...)    ls_banned_in_the_library__exit
#define getenv(...)   ls_banned_in_the_library_getenv
#define setenv(...)   ls_banned_in_the_library_setenv
#define putenv(...)   ls_banned_in_the_library_putenv
#define unsetenv(...) ls_banned_in_the_library_unsetenv
#endif

#endif
