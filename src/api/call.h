/* What every public function begins and ends with. */
#ifndef LS_API_CALL_H
#define LS_API_CALL_H

#include "lockstep.h"
#include "num/num.h"

/* The body of a public function that can fail: `work` in the floating-point mode of the
 * arithmetic contract. */
#define LS_CALL(work)                                                                              \
	do {                                                                                       \
		uint64_t mode_ = ls_fp_enter();                                                    \
		int rc_ = (work);                                                                  \
		ls_fp_leave(mode_);                                                                \
		return rc_;                                                                        \
	} while (0)

#endif
