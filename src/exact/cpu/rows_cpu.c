#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "exact/cpu/rows_cpu.h"
#include "exact/cpu/rows_kern.h"
#include "exact/cpu/threads.h"

enum { PART = 1 << 14 /* elements of a task */ };

struct job {
	const struct ls_rows *r;
	const struct ls_rows_kern *kern;
	atomic_bool no_memory;
};

static void part(void *context, int64_t from, int64_t to)
{
	struct job *j = context;
	float *room = ls_alloc_array((size_t)j->r->n + 1, sizeof *room * LS_ROWS_ROOM(1));
	if (room)
		j->kern->run(j->r, from, to, room);
	else
		atomic_store(&j->no_memory, true);
	free(room);
}

int ls_rows_cpu(const struct ls_rows *r, int threads, const char *isa, struct ls_err *err)
{
	const struct ls_exact_kern *kern = ls_exact_kern_find(isa);
	if (!kern)
		return ls_err_set(err, LS_EINPUT, "this processor has no instruction set %s", isa);
	struct job j = {.r = r, .kern = kern->rows};
	int64_t rows = PART / (r->n + 1);
	ls_exact_threads_run(threads, r->rows, rows < 1 ? 1 : rows, part, &j);
	if (atomic_load(&j.no_memory))
		return ls_err_set(err, LS_ENOMEM, "no memory is left for a row of %lld elements",
				  (long long)r->n);
	return 0;
}
