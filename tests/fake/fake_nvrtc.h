/* The stand-in for libnvrtc.so.13: "compiles" by writing an .entry for every __global__
 * function of the source. A test in the same process sets it up; otherwise version 12.4
 * and architectures 60, 75, 80 and 90. Strings are copied. One thread at a time. */
#ifndef LS_TESTS_FAKE_NVRTC_H
#define LS_TESTS_FAKE_NVRTC_H

/* fault: "FUNCTION:CODE", "debug:1" for PTX with a debug section, or NULL; version: 12040
 * for 12.4; archs: "60 75 90".
 */
typedef void fake_nvrtc_setup_fn(const char *fault, int version, const char *archs);
typedef const char *
fake_nvrtc_options_fn(void);          /* those of the last compilation, with a blank after each */
typedef int fake_nvrtc_live_fn(void); /* programs not destroyed */

#endif
