/* lockstep compare A B */
#include <stdlib.h>
#include <string.h>

#include "api/compare.h"
#include "api/tables.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "compare/tensors_digest.h"

enum { LINES_SHOWN = 40, PROGRESS_FROM = 256 << 20 };

/* A bar on the terminal for what takes longer than a moment; called under the
 * comparison's lock. */
struct bar {
	int percent;
};

static void show(void *ctx, const char *file, uint64_t done, uint64_t total)
{
	struct bar *bar = ctx;
	int percent = total ? (int)(done * 100 / total) : 100;
	if (total < PROGRESS_FROM || percent == bar->percent)
		return;
	bar->percent = percent;
	bool plain = true; /* names come from disk: no control characters to the terminal */
	for (const char *p = file; *p; p++)
		plain &= (unsigned char)*p >= 0x20;
	fprintf(stderr, "\r%3d %% of %.1f GiB %s\033[K", percent, (double)total / (1 << 30),
		plain ? file : "");
	if (done >= total)
		fputs("\r\033[K", stderr);
}

static int write_take(struct ls_str page, const char *path, struct ls_err *err)
{
	int rc = ls_file_write_atomic(path, page.s, page.len, err);
	ls_str_done(&page);
	if (rc)
		err->code = rc; /* a missing folder to write to is not bad input */
	return rc;
}

static void print_text(const struct ls_comparison *c, bool all)
{
	struct ls_str text = {0};
	ls_comparison_text(c, all ? 0 : LINES_SHOWN, &text);
	size_t line = strcspn(text.s, "\n");
	printf("%s%.*s%s%s", ls_cmd_colour(stdout, c->differs ? "red" : "green"), (int)line, text.s,
	       ls_cmd_colour(stdout, "off"), text.s + line);
	ls_str_done(&text);
}

static int report(const struct ls_comparison *c, const struct ls_args *args)
{
	struct ls_err err = {0};
	const char *html = ls_args_get(args, "html"), *markdown = ls_args_get(args, "markdown");
	struct ls_str page = {0}, text = {0};
	if (html)
		ls_comparison_html(c, &page);
	if (html && write_take(page, html, &err))
		return ls_cmd_fail(&err);
	if (markdown)
		ls_comparison_markdown(c, LINES_SHOWN, &text);
	if (markdown && write_take(text, markdown, &err))
		return ls_cmd_fail(&err);
	char digest[2][LS_SHA256_HEX];
	bool digests = ls_args_has(args, "digest");
	if (digests && (ls_tensors_digest_file(c->a, digest[0], &err) ||
			ls_tensors_digest_file(c->b, digest[1], &err)))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json")) {
		json_t *doc = ls_comparison_json(c);
		if (digests)
			json_object_set_new(doc, "digests",
					    json_pack("[s,s]", digest[0], digest[1]));
		ls_cmd_print_json_take(doc);
		return (int)ls_comparison_answer(c);
	}
	print_text(c, ls_args_has(args, "all"));
	if (digests)
		printf("digest a  %s\ndigest b  %s\n", digest[0], digest[1]);
	return (int)ls_comparison_answer(c);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct bar bar = {-1};
	struct ls_err err = {0};
	struct ls_comparison *c = NULL;
	int rc = ls_comparison_make(args, args->pos[0], args->pos[1],
				    ls_cmd_can_draw(stderr) ? show : NULL, &bar, &c, &err);
	int status = rc ? ls_cmd_fail(&err) : report(c, args);
	ls_comparison_free(c);
	return status;
}

const struct ls_cmd ls_cmd_compare = {
	.name = "compare",
	.summary = "compare two checkpoints, files or folders, to the last bit",
	.synopsis = "A B [--ignore GLOB] [--tolerance RULE] [--html FILE] [--markdown FILE] "
		    "[--all] [--digest] "
		    "[--threads N]",
	.details =
		"Reads by value: safetensors, PyTorch, numpy, pickle, ONNX, TensorFlow, Keras, "
		"HDF5, "
		"GGUF, MATLAB,\n"
		"MessagePack, TensorBoard, JSON, YAML, CSV and notebooks; anything else by "
		"byte.\n"
		"Nothing in a file is ever run. Exit status 0: identical, 1: differs, 3: something "
		"was not read.",
	.opts = ls_compare_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run,
};
