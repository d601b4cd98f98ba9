#include "fm/cpu/kern_sizes.h"

bool ls_kern_is_wide(enum ls_fm_kind kind, uint32_t lanes)
{
	bool some = lanes == 4 || lanes == 8 || lanes == 16 || lanes == LS_KERN_SHORT;
	return kind == LS_FFM || (kind == LS_FWFM ? lanes != 8 : !some);
}

size_t ls_kern_sums(const struct ls_fm_model *m)
{
	bool some = m->padded == 4 || m->padded == 8 ||
		    m->padded == 16; /* what fwfm predicts side by side */
	uint32_t rows = some && m->outputs < LS_KERN_ROWS ? LS_KERN_ROWS : m->outputs;
	return (size_t)m->padded *
	       (m->opts.kind == LS_FWFM ? (size_t)m->n_fields * rows : m->outputs);
}

size_t ls_kern_scratch(const struct ls_fm_model *m, uint64_t longest_row)
{
	return 2 * ls_kern_sums(m) + LS_KERN_ROWS * LS_KERN_ENTRY * (size_t)longest_row + 16;
}
