#include "api/options.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/tables.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/train/options.h"
#include "gpu/nvrtc.h"

/* What a command takes from its environment, and a host says. */
static const struct ls_opt host_opts[] = {
	{"kernel-cache", 0, "FOLDER", "where compiled GPU kernels are kept (default: nowhere)"},
	{"prefix", 0, "FOLDER", "below which Python's packages may have NVRTC; may be repeated"},
	{"machine-root", 0, "FOLDER", "what stands for /, for tests"},
	{0},
};

static const struct {
	const char *name;
	const struct ls_opt *table;
} commands[LS_COMMANDS] = {[LS_FM_TRAIN] = {"fm train", ls_fm_train_opts},
			   [LS_FM_PREDICT] = {"fm predict", ls_fm_predict_opts},
			   [LS_FM_EVAL] = {"fm eval", ls_fm_eval_opts},
			   [LS_DOCTOR] = {"doctor", ls_doctor_opts},
			   [LS_SPEC_CHECK] = {"spec check", ls_spec_check_opts},
			   [LS_COMPARE] = {"compare", ls_compare_opts},
			   [LS_PLAN] = {"plan", ls_plan_opts}};

static struct ls_options *options_new(enum ls_command command)
{
	struct ls_options *o = ls_xalloc(sizeof *o);
	o->command = command;
	o->tables[0] = commands[command].table;
	o->tables[1] = host_opts;
	o->args = ls_xalloc(sizeof *o->args);
	o->args->tables = o->tables;
	return o;
}

static int find_and_make(const char *command, struct ls_options **ret, struct ls_err *err)
{
	const char *names[LS_COMMANDS + 1] = {0};
	for (int i = 0; i < LS_COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(command, names[i]) == 0) {
			*ret = options_new((enum ls_command)i);
			return 0;
		}
	}
	const char *near = ls_str_nearest(command, names);
	return ls_err_set(err, LS_EINPUT, "there are no options of a command \"%.80s\"%s%s%s",
			  command, near ? " (did you mean \"" : "", near ? near : "",
			  near ? "\"?)" : "");
}

int ls_options_new(const char *command, struct ls_options **ret, struct ls_err *err)
{
	LS_CALL(err, find_and_make(command, ret, err));
}

void ls_options_free(struct ls_options *o)
{
	if (!o)
		return;
	ls_args_free(o->args);
	for (size_t i = 0; i < o->n_texts; i++)
		free(o->texts[i]);
	free(o->texts);
	free(o);
}

/* The command line's parser reads the option alone, and what it finds joins the others. */
static int set(struct ls_options *o, const char *name, const char *value, struct ls_err *err)
{
	struct ls_args *one;
	char *text = value ? ls_xasprintf("--%s=%s", name, value) : ls_xasprintf("--%s", name);
	const char *argv[] = {text};
	int rc = ls_args_parse(o->tables, false, 1, argv, &one, err);
	if (rc == 0 && one->n_given != 1) {
		ls_args_free(one);
		rc = ls_err_set(err, LS_EINPUT, "\"%.80s\" is no name of an option", name);
	}
	if (rc) {
		free(text);
		return rc;
	}
	struct ls_args *all = o->args;
	o->texts = ls_grow(o->texts, o->n_texts, &o->cap_texts, sizeof *o->texts);
	o->texts[o->n_texts++] = text;
	all->given = ls_grow(all->given, all->n_given, &all->cap_given, sizeof *all->given);
	all->given[all->n_given++] = one->given[0];
	ls_args_free(one);
	return 0;
}

int ls_options_set(struct ls_options *o, const char *name, const char *value, struct ls_err *err)
{
	LS_CALL(err, set(o, name, value, err));
}

static int describe(const struct ls_options *o, char **ret_json)
{
	json_t *list = json_array();
	for (const struct ls_opt *const *table = o->tables; *table; table++)
		for (const struct ls_opt *opt = *table; opt->name; opt++)
			json_array_append_new(list,
					      json_pack("{s:s,s:s?,s:s}", "name", opt->name,
							"value", opt->arg, "help", opt->help));
	*ret_json = ls_json_text(list);
	json_decref(list);
	return 0;
}

int ls_options_describe(const struct ls_options *o, char **ret_json, struct ls_err *err)
{
	LS_CALL(err, describe(o, ret_json));
}

int ls_options_use(const struct ls_options *o, unsigned set_of, struct ls_options **own,
		   const struct ls_args **ret, struct ls_err *err)
{
	*own = NULL;
	if (!o)
		for (int i = 0; i < LS_COMMANDS && !*own; i++)
			if (set_of & 1u << i)
				o = *own = options_new((enum ls_command)i);
	if (!o || !(set_of & 1u << o->command))
		return ls_err_set(err, LS_EINPUT, "options of \"%s\" are for other calls",
				  o ? commands[o->command].name : "");
	*ret = o->args;
	return 0;
}

const char **ls_options_all(const struct ls_args *args, const char *name)
{
	size_t n = 0, i = 0;
	while (ls_args_nth(args, name, n))
		n++;
	const char **list = ls_xalloc((n + 1) * sizeof *list);
	for (; i < n; i++)
		list[i] = ls_args_nth(args, name, i);
	return list;
}

char **ls_options_kernels(const struct ls_args *args, struct ls_kernels_conf *ret)
{
	const char *root = ls_args_get(args, "machine-root");
	const char **prefixes = ls_options_all(args, "prefix");
	char **nvrtc = ls_nvrtc_places(root ? root : "", prefixes);
	free(prefixes);
	*ret = (struct ls_kernels_conf){.cache_dir = ls_args_get(args, "kernel-cache"),
					.nvrtc = (const char *const *)nvrtc};
	return nvrtc;
}

int ls_options_engine(const struct ls_args *args, const struct ls_fm_device *device,
		      struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		      struct ls_engine *ret, struct ls_err *err)
{
	struct ls_kernels_conf conf;
	char **nvrtc = ls_options_kernels(args, &conf);
	int rc = ls_fm_device_engine(device, &conf, m, rows, pool, ret, err);
	ls_nvrtc_places_free(nvrtc);
	return rc;
}
