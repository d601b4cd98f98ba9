#include "sum_trials.h"

#include <string.h>

#include "exact/grid.h"
#include "num/philox.h"

const struct sum_operation sum_operations[] = {
	{"sum", "xR", {0}, 0, "b353388b359e1506"},
	{"sum", "xC", {0}, 0, "8f93be5123c7a670"},
	{"sum", "xO", {0}, 0, "ddedf61ad8245ddd"},
	{"mean", "xC", {0}, 0, "b089bfd581168e43"},
	{"norm1", "xR", {0}, 0, "4c49d43258d8b7b9"},
	{"norm2", "xO", {0}, 0, "08b064192ce677c0"},
	{"norm_inf", "xC", {0}, 0, "37c39b8a7387b553"},
	{"sum_squares", "xR", {0}, 0, "365c74710705c4f0"},
	{"amax", "xR", {0}, 0, "d30e34ccea63c90e"},
	{"amin", "xC", {0}, 0, "c63fa5274841bbaf"},
	{"argmax", "xA", {0}, 0, "13e39113590db2a5"},
	{"argmin", "xA", {0}, 0, "11def739c7be844b"},
	{"var", "xRR", {1}, 1, "9c2cae92defe73b6"},
	{"std", "xCC", {1}, 1, "39884d6afa8c9e71"},
	{"var", "xO", {0}, 1, "b462d4c22f9252b6"},
	{"batch_norm_stats", "xCCCC", {1e-5, 0.1}, 2, "41b1041c7c3672e0"},
	{"norm_grads", "xxrrCC", {0}, 0, "5f6f6c9f341753da"},
	{"norm_grads", "xxccRR", {0}, 0, "3172e8e217ba379f"},
	{"rms_norm_grads", "xxrC", {0}, 0, "71f778f7e2d2271a"},
	{"ratio_of_sums", "xxOO", {0}, 0, "1c1d9dd910e0aef0"},
	{"mse_loss", "xxO", {7}, 1, "901e6e65982da882"},
	{"l1_loss", "xxC", {7}, 1, "82c0708bc764d567"},
	{"bce", "xxcO", {7}, 1, "f3baa5005cf60dce"},
	{"kl_div", "xxR", {7}, 1, "219efe01dda1bc2b"},
	{"kl_div_log", "xxO", {7}, 1, "ebab7a21fc5dae40"},
	{"smooth_l1_loss", "xxX", {1, 0.5}, 2, "958262b6dea03942"},
	{"huber_loss", "xxR", {3, 0.5}, 2, "fbc0504d69d00222"},
	{"bce_with_logits", "xxccO", {7}, 1, "d0b2277e542bd1a6"},
	{"batch_norm", "xccccX", {0}, 0, "3cb792035d160696"},
	{"inverse_std", "xX", {1e-5}, 1, "b50848402c9b79d3"},
	{"batch_norm_back", "xxcccccX", {12}, 1, "d0e106df714d925b"},
	{"mse_loss_back", "xxcX", {7}, 1, "c027282000390f20"},
	{"l1_loss_back", "xxrX", {7}, 1, "a5884781ef743b8b"},
	{"smooth_l1_loss_back", "xxcX", {7, 0.5}, 2, "b7c02733a3fa752e"},
	{"huber_loss_back", "xxcX", {7, 0.5}, 2, "d45b55ae3c347d69"},
	{"bce_back", "xxrcX", {7}, 1, "8f9d9e554aa5a9bb"},
	{"bce_with_logits_back", "xxrccX", {7}, 1, "e07b07a86461dfa7"},
	{"softmax", "xX", {0}, 0, "00ab7735b490160b"},
	{"log_softmax", "xX", {0}, 0, "890314daf82b3cc1"},
	{"logsumexp", "xR", {0}, 0, "044edea60c18816f"},
	{"softmax_back", "xxX", {0}, 0, "066e48e143ad6bf0"},
	{"log_softmax_back", "xxX", {0}, 0, "f013517cdd0e0013"},
	{"layer_norm", "xccXRR", {1e-5}, 1, "d7ff3de196e69b11"},
	{"rms_norm", "xcXR", {1e-5}, 1, "f3b4bf8a135d9c3d"},
	{"layer_norm_back", "xxssvX", {0}, 0, "4ee79d642e1e8c4b"},
	{"rms_norm_back", "xxsvX", {0}, 0, "917a40504c70f111"},
	{"cumsum", "xX", {0}, 0, "56d90925be10da11"},
	{"embedding_back", "xiW", {3, 1}, 2, "6b22716ee5a796ff"},
	{"embedding_back", "xiW", {-1, 0}, 2, "cb6ffea9b9e6aefa"},
	{"index_add", "wiyW", {-0.5}, 1, "9e3c0fd87f122486"},
	{"scatter_add", "wjyW", {0}, 0, "12d64adbfca3c234"},
	{NULL, NULL, {0}, 0, NULL},
};
enum { OPERATIONS = sizeof sum_operations / sizeof *sum_operations - 1, PLACES = 17 };

size_t sum_operation_count(void)
{
	return OPERATIONS;
}

/* --- tensors --- */

static float value_of(int kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 4 + 124) << 23 | mantissa);
	switch (kind) {
	case 1:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case 2:
		return ls_f_bits(sign | (r.v[3] & 1 ? 0x7f7fffff : 0x7f000000 | (mantissa & 15)));
	case 3:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case 4:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case 5:
		return r.v[3] % 97 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 == 0));
	default:
		return usual;
	}
}

static bool is_scatter(const struct sum_trial *t)
{
	return strchr(t->o->tensors, 'W') != NULL;
}

struct ls_exact_tensor sum_trial_shape(const struct sum_trial *t, size_t k)
{
	const char letter = t->o->tensors[k];
	int64_t rows = t->rows, columns = t->columns;
	bool turned = t->turned && !is_scatter(t);
	bool wide = strchr("xXcC", letter) != NULL, high = strchr("xXrR", letter) != NULL;
	struct ls_exact_tensor x = {
		NULL, t->type, 2, {high ? rows : 1, wide ? columns : 1}, {0, 0}};
	switch (letter) {
	case 's': /* a row's statistic, of a row operation */
		return (struct ls_exact_tensor){NULL, t->type, 1, {rows}, {1}};
	case 'v':
		return (struct ls_exact_tensor){NULL, t->type, 1, {columns}, {1}};
	case 'A':
		return (struct ls_exact_tensor){NULL, LS_EXACT_I64, 2, {rows, 1}, {1, 1}};
	case 'i':
		return (struct ls_exact_tensor){NULL, LS_EXACT_I64, 1, {rows}, {1}};
	case 'w':
	case 'W':
		if (t->o->tensors[0] == 'x')
			return (struct ls_exact_tensor){
				NULL, t->type, 2, {PLACES, columns}, {columns, 1}};
		return (struct ls_exact_tensor){
			NULL, t->type, 3, {2, PLACES, columns}, {PLACES * columns, columns, 1}};
	case 'y':
	case 'j':
		return (struct ls_exact_tensor){NULL,
						letter == 'j' ? LS_EXACT_I64 : t->type,
						3,
						{2, rows, columns},
						{rows * columns, columns, 1}};
	default:
		break;
	}
	if (wide)
		x.stride[1] = turned && high ? rows : 1;
	if (high)
		x.stride[0] = turned || !wide ? 1 : columns;
	/* what is read beside elements is repeated */
	bool repeated = strchr("rc", letter) && strncmp(t->o->name, "layer", 5) != 0 &&
			strncmp(t->o->name, "rms_norm", 9) != 0;
	x.size[0] = repeated ? rows : x.size[0];
	x.size[1] = repeated ? columns : x.size[1];
	return x;
}

static int64_t count_of(const struct ls_exact_tensor *x)
{
	int64_t last = 1;
	for (int d = 0; d < x->ndim; d++)
		last += (x->size[d] - 1) * x->stride[d];
	return last;
}

static size_t size_of(int type)
{
	return type == LS_EXACT_I64 ? 8 : type == LS_EXACT_F32 ? 4 : 2;
}

size_t sum_trial_bytes(const struct ls_exact_tensor *x)
{
	return (size_t)count_of(x) * size_of(x->type);
}

void sum_trial_fill(const struct sum_trial *t, size_t k, const struct ls_exact_tensor *x, void *at)
{
	for (int64_t i = 0; i < count_of(x); i++) {
		double v = (double)value_of(t->values, t->seed * SUM_TENSORS + k, (uint64_t)i);
		struct ls_u32x4 r = ls_philox(t->seed, k, (uint64_t)i);
		if (x->type == LS_EXACT_I64) /* half of them go to one place */
			((int64_t *)at)[i] = r.v[1] & 1 ? 5 : r.v[0] % PLACES;
		else if (x->type == LS_EXACT_F32)
			((float *)at)[i] = (float)v;
		else
			((uint16_t *)at)[i] =
				x->type == LS_EXACT_BF16 ? ls_bf16_from(v) : ls_f16_from(v);
	}
}

/* From what the operation is called and takes. */
static uint64_t key_of(const struct sum_operation *o)
{
	uint64_t key = 0x5a5;
	for (const char *c = o->name; *c; c++)
		key = key * 131 + (unsigned char)*c;
	for (const char *c = o->tensors; *c; c++)
		key = key * 131 + (unsigned char)*c;
	return key + (uint64_t)(int64_t)o->number[0];
}

struct sum_trial sum_trial_of(const struct sum_operation *o, uint64_t i, int64_t most)
{
	uint64_t key = key_of(o);
	struct ls_u32x4 r = ls_philox(key, i, 0), q = ls_philox(key, i, 1);
	struct sum_trial t = {.o = o,
			      .rows = 1 + r.v[0] % most,
			      .columns = 1 + r.v[1] % most,
			      .turned = r.v[2] & 1,
			      .values = (int)(q.v[0] % 6),
			      .type = (int)(q.v[1] % 3),
			      .seed = key + i};
	if (q.v[2] % 4 == 0) { /* a long row */
		t.columns = 1 + r.v[1] % (40 * most);
		t.rows = 1 + t.rows % 5;
	} else if (q.v[2] % 4 == 1) { /* many rows */
		t.rows = 1 + r.v[0] % (40 * most);
		t.columns = 1 + t.columns % 5;
	}
	return t;
}
