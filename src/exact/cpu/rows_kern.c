#include "exact/cpu/rows_kern.h"

#include "exact/cpu/chunk.h"

/* A row as floats: its operands, and the weight and bias of each element. */
struct floats {
	const float *in[2], *weight, *bias;
	float *power; /* softmax: what the result is made of */
};

static int size_of(int64_t n, int64_t j)
{
	return (int)(n - j < LS_CHUNK ? n - j : LS_CHUNK);
}

/* --- reading --- */

static size_t bytes_of(int type)
{
	return type == LS_REDUCE_F32 ? sizeof(float) : sizeof(uint16_t);
}

static const float *read_row(const struct ls_rows *r, int k, int64_t row, float *room)
{
	const struct ls_rows_tensor *x = &r->in[k];
	int64_t start = ls_row_start(r, x, row);
	if (x->type == LS_REDUCE_F32 && x->step == 1)
		return (const float *)x->at + start;
	chunk_fetch((const char *)x->at + start * (int64_t)bytes_of(x->type), x->type, x->step,
		    r->n, room);
	return room;
}

static const float *read_vector(const struct ls_rows *r, const struct ls_rows_vector *x,
				int64_t row, float missing, float *room)
{
	int plain = r->groups == 1 && r->width == 1;
	if (x->at && plain && x->type == LS_REDUCE_F32)
		return x->at;
	for (int64_t j = 0; j < r->n; j++)
		room[j] =
			x->at ? ls_reduce_get(x->at, x->type, ls_row_channel(r, row, j)) : missing;
	return room;
}

/* --- softmax --- */

INLINE void sum_powers(const int kind, const struct ls_rows *r, const struct floats *f,
		       struct ls_row *row)
{
	const double scale = ls_pow2(ls_row_exp_grid(r->n));
	const int64_t n = r->n;
	const float *restrict x = f->in[0];
	float *restrict power = f->power;
	uint32_t key = 0;
	uint64_t sum = 0;
	for (int64_t j = 0; j < n; j++) {
		uint32_t k = ls_float_key(x[j]);
		key = k > key ? k : key;
	}
	ls_row_set_largest(row, key);
	const struct ls_row own = *row;
	for (int64_t j = 0; j < n; j++) {
		power[j] = ls_row_exp(&own, x[j]);
		sum += ls_bits_d((double)power[j] * scale + LS_MAGIC);
	}
	ls_row_set_powers(kind, row, sum - (uint64_t)n * LS_MAGIC_BITS, n);
}

/* --- all other kinds --- */

INLINE void terms(const int kind, const struct ls_row *row, const struct floats *f, int64_t at,
		  int n, double pivot, double (*t)[LS_CHUNK])
{
	const struct ls_row own = *row;
	const float *restrict a = f->in[0] + at, *restrict b = f->in[1] + at;
	const float *restrict w = f->weight + at;
	double *restrict first = t[0], *restrict second = t[1];
	for (int j = 0; j < n; j++) {
		double one[2] = {0.0, 0.0};
		ls_row_terms(kind, &own, pivot, a[j], b[j], w[j], one);
		first[j] = one[0];
		if (ls_row_sums(kind) == 2)
			second[j] = one[1];
	}
}

INLINE void sum_terms(const int kind, const struct ls_rows *r, const struct floats *f, int64_t i,
		      struct ls_row *row)
{
	struct ls_sum_state s = {{0, 0}, {0, 0}, 0, 0};
	double t[2][LS_CHUNK];
	if (kind == LS_ROW_NORM_BACK)
		row->mean = (double)ls_reduce_get(r->mean.at, r->mean.type, i);
	if (kind == LS_ROW_NORM_BACK || kind == LS_ROW_RMS_BACK)
		row->inverse = (double)ls_reduce_get(r->inverse.at, r->inverse.type, i);
	for (int64_t j = 0; j < r->n; j += LS_CHUNK) {
		int n = size_of(r->n, j);
		if (kind == LS_ROW_NORM) {
			s.flags |= chunk_range(f->in[0] + j, n, &s.top[0], &s.top[1]);
			continue;
		}
		terms(kind, row, f, j, n, 0.0, t);
		for (int k = 0; k < ls_row_sums(kind); k++) {
			s.top[k] = chunk_top(t[k], n, s.top[k]);
			if (s.top[k] == 0x7ff)
				s.flags |= chunk_flags(t[k], n) << (LS_TERM_FLAGS * k);
		}
	}
	struct ls_grids g = ls_grids_of(ls_row_term(kind), &s, r->n);
	for (int64_t j = 0; j < r->n; j += LS_CHUNK) {
		int n = size_of(r->n, j);
		terms(kind, row, f, j, n, g.pivot, t);
		for (int k = 0; k < ls_row_sums(kind); k++)
			s.sum[k] += chunk_sum(t[k], n, g.scale[k]);
	}
	ls_row_set_sums(r, row, &s);
}

/* --- results --- */

static void write_statistics(const struct ls_rows *r, const struct ls_row *row, int64_t i)
{
	if (r->kind == LS_ROW_LOGSUMEXP)
		ls_reduce_put(r->out.at, r->out.type, ls_row_start(r, &r->out, i),
			      ls_row_logsumexp(row));
	if (r->kind == LS_ROW_NORM && r->mean.at)
		ls_reduce_put(r->mean.at, r->mean.type, i, row->mean);
	if ((r->kind == LS_ROW_NORM || r->kind == LS_ROW_RMS) && r->inverse.at)
		ls_reduce_put(r->inverse.at, r->inverse.type, i, row->inverse);
}

static void store(const struct ls_rows_tensor *out, int64_t at, int n, const double *t)
{
	if (out->type == LS_REDUCE_F32 && out->step == 1) {
		float *restrict to = (float *)out->at + at;
		const double *restrict from = t;
		for (int j = 0; j < n; j++)
			to[j] = ls_f32_from(from[j]);
	} else
		for (int j = 0; j < n; j++)
			ls_reduce_put(out->at, out->type, at + j * out->step, t[j]);
}

INLINE void results(const int kind, const struct ls_row *row, const struct floats *f, int64_t at,
		    int n, double *restrict t)
{
	const struct ls_row own = *row;
	const float *restrict a = f->in[0] + at, *restrict b = f->in[1] + at;
	const float *restrict w = f->weight + at, *restrict bias = f->bias + at;
	for (int j = 0; j < n; j++)
		t[j] = ls_row_result(kind, &own, a[j], b[j], w[j], bias[j]);
}

INLINE void one_row(const int kind, const struct ls_rows *r, struct floats *f, int64_t i)
{
	struct ls_row row = {0};
	double t[LS_CHUNK];
	int64_t start = ls_row_start(r, &r->out, i);
	if (ls_row_is_softmax(kind))
		sum_powers(kind, r, f, &row);
	else
		sum_terms(kind, r, f, i, &row);
	write_statistics(r, &row, i);
	f->in[0] = kind == LS_ROW_SOFTMAX ? f->power : f->in[0];
	for (int64_t j = 0; kind != LS_ROW_LOGSUMEXP && j < r->n; j += LS_CHUNK) {
		int n = size_of(r->n, j);
		results(kind, &row, f, j, n, t);
		store(&r->out, start + j * r->out.step, n, t);
	}
}

static void beginnings(const struct ls_rows *r, const float *x, int64_t i)
{
	const int64_t start = ls_row_start(r, &r->out, i);
	uint32_t top = 0, flags = 0;
	uint64_t sum = 0;
	for (int64_t j = 0; j < r->n; j++) {
		uint32_t u = ls_row_finite_top(x[j]);
		top = u > top ? u : top;
	}
	const int p = ls_term_grid(top, r->n);
	const double scale = ls_pow2(p);
	for (int64_t j = 0; j < r->n; j++) {
		sum += ls_term_steps((double)x[j], scale);
		flags |= ls_term_flags((double)x[j]);
		ls_reduce_put(r->out.at, r->out.type, start + j * r->out.step,
			      ls_row_beginning(sum, flags, p));
	}
}

static void by_kind(const struct ls_rows *r, struct floats *f, int64_t i)
{
	switch (r->kind) {
	case LS_ROW_SOFTMAX:
		one_row(LS_ROW_SOFTMAX, r, f, i);
		break;
	case LS_ROW_LOG_SOFTMAX:
	case LS_ROW_LOGSUMEXP:
		one_row(r->kind, r, f, i);
		break;
	case LS_ROW_SOFTMAX_BACK:
		one_row(LS_ROW_SOFTMAX_BACK, r, f, i);
		break;
	case LS_ROW_LOG_SOFTMAX_BACK:
		one_row(LS_ROW_LOG_SOFTMAX_BACK, r, f, i);
		break;
	case LS_ROW_NORM:
		one_row(LS_ROW_NORM, r, f, i);
		break;
	case LS_ROW_NORM_BACK:
		one_row(LS_ROW_NORM_BACK, r, f, i);
		break;
	case LS_ROW_CUMSUM:
		beginnings(r, f->in[0], i);
		break;
	default:
		one_row(r->kind, r, f, i);
	}
}

static void run(const struct ls_rows *r, int64_t from, int64_t to, float *room)
{
	struct floats f = {.power = room + 4 * r->n};
	for (int64_t i = from; i < to; i++) {
		f.in[0] = read_row(r, 0, i, room);
		/* an operand that is not there is read, and not used */
		f.in[1] = ls_row_operands(r->kind) == 2 ? read_row(r, 1, i, room + r->n) : f.in[0];
		if (i == from || r->groups > 1) {
			f.weight = read_vector(r, &r->weight, i, 1.0f, room + 2 * r->n);
			f.bias = read_vector(r, &r->bias, i, 0.0f, room + 3 * r->n);
		}
		by_kind(r, &f, i);
	}
}

const struct ls_rows_kern LS_EXACT_NAME(rows) = {run};
