/* What every public function begins and ends with. */
#ifndef LS_API_CALL_H
#define LS_API_CALL_H

#include "base/json.h"
#include "base/mem.h"
#include "lockstep.h"
#include "num/num.h"

/* The body of a public function that can fail: `work`, in the floating-point mode of the
 * arithmetic contract. Where there is no memory, it is an error of this call. */
#define LS_CALL(err, work)                                                                         \
	do {                                                                                       \
		struct ls_mem_guard guard_;                                                        \
		const volatile uint64_t mode_ = ls_fp_enter();                                     \
		volatile int rc_;                                                                  \
		ls_json_guard();                                                                   \
		ls_mem_guard_enter(&guard_);                                                       \
		if (setjmp(guard_.at) == 0)                                                        \
			rc_ = (work);                                                              \
		else                                                                               \
			rc_ = ls_mem_guard_why(&guard_, err);                                      \
		ls_mem_guard_leave(&guard_);                                                       \
		ls_fp_leave(mode_);                                                                \
		return rc_;                                                                        \
	} while (0)

#endif
