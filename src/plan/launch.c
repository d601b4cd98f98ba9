/* The lines that start a plan: torchrun on one machine, or sbatch with torchrun in it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan/config.h"
#include "plan/values.h"

enum { PORT = 29500 };

/* --- the command --- */

static const struct ls_plan_value *value_of(const struct ls_plan_value *v, const char *name,
					    size_t len)
{
	for (size_t i = 0; i < LS_PLAN_VALUES; i++)
		if (v[i].placeholder && strlen(v[i].placeholder) == len &&
		    strncmp(v[i].placeholder, name, len) == 0)
			return &v[i];
	return NULL;
}

/* One word with its placeholders replaced. Braces around anything else stay: JSON has
 * them. */
static int expand(const struct ls_plan_value *values, const char *word, struct ls_str *out,
		  struct ls_err *err)
{
	while (*word) {
		size_t len = *word == '{' ? strcspn(word + 1, "}") : 0;
		const struct ls_plan_value *v = len ? value_of(values, word + 1, len) : NULL;
		if (v && word[len + 1] == '}') {
			if (!*v->text)
				return ls_err_set(err, LS_EINPUT,
						  "{%s} is not known: give the option that says it",
						  v->placeholder);
			ls_str_add(out, v->text);
			word += len + 2;
		} else {
			ls_str_add_bytes(out, word++, 1);
		}
	}
	return 0;
}

static int add_word(const struct ls_plan_value *values, const char *word, struct ls_str *out,
		    struct ls_err *err)
{
	struct ls_str plain = {0};
	int rc = expand(values, word, &plain, err);
	char *quoted = rc ? NULL : ls_str_shell(plain.s ? plain.s : "");
	if (!rc)
		ls_str_addf(out, " %s", quoted);
	free(quoted);
	ls_str_done(&plain);
	return rc;
}

static bool is_python(const char *word)
{
	const char *slash = strrchr(word, '/');
	return strncmp(slash ? slash + 1 : word, "python", 6) == 0;
}

/* torchrun starts Python itself, for a script or a module. Anything else, and Python with
 * options of its own, needs --no-python. */
static bool torchrun_starts(const char *word)
{
	return word && (ls_str_ends(word, ".py") || strcmp(word, "-m") == 0);
}

static int add_command(const struct ls_plan *p, const char *const *command, struct ls_str *out,
		       struct ls_err *err)
{
	static const char *const script[] = {"train.py", NULL};
	struct ls_plan_value values[LS_PLAN_VALUES];
	int rc = 0;
	ls_plan_values(p, values);
	if (!command || !*command)
		command = script;
	else if (is_python(*command) && torchrun_starts(command[1]))
		command++;
	else if (!torchrun_starts(*command))
		ls_str_add(out, " --no-python");
	for (; *command && !rc; command++)
		rc = add_word(values, *command, out, err);
	return rc;
}

/* Without a command of its own the script is told by variables. */
static void add_variables(const struct ls_plan *p, const struct ls_plan_launch *how,
			  struct ls_str *out)
{
	struct ls_plan_value v[LS_PLAN_VALUES];
	if (how->command && *how->command)
		return;
	ls_plan_values(p, v);
	for (size_t i = 0; i < LS_PLAN_VALUES; i++)
		if (*v[i].text)
			ls_str_addf(out, "%s=%s ", v[i].variable, v[i].text);
}

/* --- nodes --- */

static int nodes_of(const struct ls_plan *p, const struct ls_plan_launch *how, uint64_t *ret_nodes,
		    uint64_t *ret_each, struct ls_err *err)
{
	uint64_t ranks = p->options[0].layout.ranks;
	uint64_t each = how->gpus_per_node ? how->gpus_per_node : ranks;
	if (each > ranks)
		each = ranks;
	*ret_nodes = ranks / each;
	*ret_each = each;
	if (ranks % each)
		return ls_err_set(err, LS_EINPUT,
				  "%" PRIu64 " GPUs are no whole number of nodes with %" PRIu64
				  " each",
				  ranks, each);
	return 0;
}

/* torchrun on every node of a job; on one node no rendezvous is needed. */
static void add_torchrun(uint64_t nodes, uint64_t each, const char *endpoint, struct ls_str *out)
{
	if (nodes == 1)
		ls_str_addf(out, "torchrun --standalone --nproc-per-node=%" PRIu64, each);
	else
		ls_str_addf(out,
			    "torchrun --nnodes=%" PRIu64 " --nproc-per-node=%" PRIu64
			    " --rdzv-backend=c10d --rdzv-endpoint=%s:%d",
			    nodes, each, endpoint, PORT);
}

int ls_plan_torchrun(const struct ls_plan *p, const struct ls_plan_launch *how, struct ls_str *out,
		     struct ls_err *err)
{
	struct ls_str line = {0};
	uint64_t nodes, each;
	int rc = nodes_of(p, how, &nodes, &each, err);
	if (!rc) {
		add_variables(p, how, &line);
		add_torchrun(nodes, each, "\"$HEAD_NODE\"", &line);
		rc = add_command(p, how->command, &line, err);
	}
	if (!rc)
		ls_str_add(out, line.s);
	ls_str_done(&line);
	return rc;
}

/* What a GPU's type is likely to be called in Slurm's GRES: sites choose the names. */
static void add_gres(const struct ls_gpu_model *m, uint64_t each, struct ls_str *out)
{
	ls_str_add(out, " --gres=gpu:");
	for (const char *c = m ? m->family : ""; *c; c++)
		ls_str_addf(out, "%c",
			    isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : '_');
	ls_str_addf(out, "%s%" PRIu64, m ? ":" : "", each);
}

int ls_plan_sbatch(const struct ls_plan *p, const struct ls_plan_launch *how, struct ls_str *out,
		   struct ls_err *err)
{
	struct ls_str inner = {0};
	uint64_t nodes, each;
	int rc = nodes_of(p, how, &nodes, &each, err);
	if (!rc) {
		add_variables(p, how, &inner);
		if (nodes > 1)
			ls_str_add(&inner, "srun ");
		add_torchrun(nodes, each, "$(hostname)", &inner);
		rc = add_command(p, how->command, &inner, err);
	}
	char *partition = ls_str_shell(how->partition ? how->partition : "");
	char *wrapped = rc ? NULL : ls_str_shell(inner.s);
	if (!rc) {
		ls_str_add(out, "sbatch");
		if (how->partition)
			ls_str_addf(out, " --partition=%s", partition);
		ls_str_addf(out, " --nodes=%" PRIu64 " --ntasks-per-node=1", nodes);
		add_gres(p->to, each, out);
		ls_str_addf(out, " --wrap %s", wrapped);
	}
	free(partition);
	free(wrapped);
	ls_str_done(&inner);
	return rc;
}
