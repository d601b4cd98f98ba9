/* Trains a factorization machine on rows that the program has in memory and predicts them.
 * The digest is the same on every machine, with any number of threads. */
#include <lockstep.h>
#include <stdio.h>
#include <string.h>

static int fail(const struct ls_err *err)
{
	fprintf(stderr, "%s\n", err->msg);
	return 1;
}

/* Called well within every second; anything but 0 would stop the training. */
static int tell(void *context, const struct ls_train_event *e)
{
	(void)context;
	if (e->what == LS_TRAIN_EPOCH)
		printf("epoch %u: loss %.4f\n", (unsigned)e->epoch, e->loss);
	return 0;
}

static const int64_t indptr[] = {0, 2, 4, 6, 8};
static const int32_t indices[] = {0, 2, 0, 3, 1, 2, 1, 3};
static const float labels[] = {1, 0, 0, 1};

/* Four rows of two features each; every value is 1. */
static int make_rows(struct ls_dataset **ret, struct ls_err *err)
{
	struct ls_csr_arrays a;
	memset(&a, 0, sizeof a);
	a.columns = 4;
	a.indptr.data = indptr;
	a.indptr.length = 5;
	a.indptr.type = "int64";
	a.indices.data = indices;
	a.indices.length = 8;
	a.indices.type = "int32";
	a.labels.data = labels;
	a.labels.length = 4;
	a.labels.type = "float32";
	return ls_dataset_from_csr(&a, ret, err);
}

static int make_options(struct ls_options **ret, struct ls_err *err)
{
	int rc = ls_options_new("fm train", ret, err);
	if (rc == 0)
		rc = ls_options_set(*ret, "epochs", "3", err);
	if (rc == 0)
		rc = ls_options_set(*ret, "factors", "4", err);
	return rc;
}

static int show(const struct ls_model *model, const struct ls_dataset *rows, struct ls_err *err)
{
	float p[4];
	char digest[65];
	int rc = ls_model_predict(model, rows, NULL, p, err);
	if (rc == 0)
		rc = ls_model_digest(model, digest, err);
	for (int i = 0; i < 4 && rc == 0; i++)
		printf("row %d: %.6f\n", i, (double)p[i]);
	if (rc == 0)
		printf("digest %s\n", digest);
	return rc;
}

int main(void)
{
	struct ls_options *options = NULL;
	struct ls_dataset *rows = NULL;
	struct ls_model *model = NULL;
	struct ls_err err;
	int rc = make_options(&options, &err);
	if (rc == 0)
		rc = make_rows(&rows, &err);
	if (rc == 0) {
		struct ls_training training;
		memset(&training, 0, sizeof training);
		training.options = options;
		training.rows = rows;
		training.tell = tell;
		rc = ls_model_train(&training, &model, NULL, &err);
	}
	if (rc == 0)
		rc = show(model, rows, &err);
	ls_model_free(model);
	ls_dataset_free(rows);
	ls_options_free(options);
	return rc ? fail(&err) : 0;
}
