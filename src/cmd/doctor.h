/* Doctor's output for people. Arguments are borrowed; prints on stdout, colour only on a
 * terminal. One thread. */
#ifndef LS_CMD_DOCTOR_H
#define LS_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "env/rules/report.h"

/* The verdict, what differs and what to do, on one screen; with verbose also every check,
 * fact and remark. */
void ls_doctor_print(const struct ls_report *report, bool verbose);
/* The long part: doctor_tables.c. */
void ls_doctor_tables(const struct ls_report *report);
/* --- doctor_hardware.c --- */

/* Batch sizes to begin with, and what was tried on GPUs like these. */
void ls_doctor_hardware(const struct ls_report *report);
/* What to try against report->symptom, and this machine's figures for it; nothing without
 * one. */
void ls_doctor_symptom(const struct ls_report *report, struct ls_str *out);

/* --- doctor_text.c --- */

/* Columns of the terminal on stdout, or what COLUMNS says; 0: no limit, as in a pipe. */
size_t ls_doctor_width(void);
/* "ok", "differs", "DIFFERS" (required), "unknown", and their colour sequence or "". */
const char *ls_doctor_mark(const struct ls_finding *f);
const char *ls_doctor_colour(const struct ls_finding *f);
/* A line in bold, with an empty one above. */
void ls_doctor_heading(const char *text);
/* A copy without control characters: values come from files and variables that anybody
 * may have written. At most width columns (0: no limit), cut with "…". The caller
 * frees. */
char *ls_doctor_cell(const char *text, size_t width);
/* Lines of the terminal on stdout, 24 where it has fewer or there is none. */
size_t ls_doctor_height(void);
/* Prints text broken between words: the first line begins at column first, as the cursor
 * stands, the following ones are indented. */
void ls_doctor_wrap(const char *text, size_t first, size_t indent);
void ls_doctor_wrap_to(struct ls_str *out, const char *text, size_t first, size_t indent);

#endif
