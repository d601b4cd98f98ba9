#include "watch/web.h"

#include <string.h>

#include "base/embed.h"

static const struct {
	const char *path, *file, *type;
} files[] = {
	{"/", "src/watch/web/index.html", "text/html; charset=utf-8"},
	{"/style.css", "src/watch/web/style.css", "text/css; charset=utf-8"},
	{"/app.js", "src/watch/web/app.js", "text/javascript; charset=utf-8"},
	{"/chart.js", "src/watch/web/chart.js", "text/javascript; charset=utf-8"},
	{"/dom.js", "src/watch/web/dom.js", "text/javascript; charset=utf-8"},
	{"/experiments.js", "src/watch/web/experiments.js", "text/javascript; charset=utf-8"},
	{"/gpus.js", "src/watch/web/gpus.js", "text/javascript; charset=utf-8"},
	{"/jobs.js", "src/watch/web/jobs.js", "text/javascript; charset=utf-8"},
	{"/peers.js", "src/watch/web/peers.js", "text/javascript; charset=utf-8"},
	{"/icon.svg", "src/watch/web/icon.svg", "image/svg+xml"},
};

bool ls_web_answer(const char *path, struct ls_reply *ret)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct ls_blob *b =
			strcmp(path, files[i].path) == 0 ? ls_embed_find(files[i].file) : NULL;
		if (!b)
			continue;
		ls_body_drop(ret->body);
		*ret = (struct ls_reply){200, files[i].type, ls_body_borrow(b->data, b->len)};
		return true;
	}
	return false;
}
