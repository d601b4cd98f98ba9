/* Functions that this tree does without, made errors. The build includes this file before every
 * file of src/; nobody includes it by hand. Owns nothing; nothing here runs. Function-like macros,
 * not poison: a system header may use such a name for a parameter, and format(printf, …) must stay
 * legal. The headers that declare the functions come first. */
#ifndef LS_BASE_BANNED_H
#define LS_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* no bound on what is written: snprintf, memcpy with a checked size, struct ls_str */
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
/* a result that may lack its end */
#undef strncpy
#define strncpy(...) ls_banned_strncpy
#undef strncat
#define strncat(...) ls_banned_strncat
/* hidden state shared by all threads: strtok_r, gmtime_r, localtime_r, strftime */
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
/* no error reported: ls_str_to_… or strtol with its checks */
#undef atoi
#define atoi(...) ls_banned_atoi
#undef atol
#define atol(...) ls_banned_atol
#undef atoll
#define atoll(...) ls_banned_atoll
#undef atof
#define atof(...) ls_banned_atof
/* randomness is a function of seed and index (src/num), never a stream */
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
/* a shell between us and the program: ls_proc; a name that another may take first: ls_file, mkstemp
 */
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

/* The library never prints, exits or touches the environment: src/cmd/ does. An exception is a call
 * in parentheses with its reason beside it: (getenv)("PATH"). */
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
