/* Doctor's tables for people. Arguments are borrowed; prints on stdout, colour only on a terminal.
 * One thread. */
#ifndef LS_CMD_DOCTOR_H
#define LS_CMD_DOCTOR_H

#include "env/rules/report.h"

void ls_doctor_print(const struct ls_report *report);

#endif
