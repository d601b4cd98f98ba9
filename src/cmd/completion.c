/* Shell completion, generated from the command table so that it cannot fall behind. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "env/spec/spec.h"

typedef void leaf_fn(struct ls_str *out, const char *path, const struct ls_cmd *cmd);

static void each_leaf(struct ls_str *out, leaf_fn *fn)
{
	for (const struct ls_cmd *const *c = ls_cmds; *c; c++) {
		if (!(*c)->subs)
			fn(out, (*c)->name, *c);
		for (const struct ls_cmd *const *s = (*c)->subs; s && *s; s++) {
			char path[128];
			snprintf(path, sizeof path, "%s %s", (*c)->name, (*s)->name);
			fn(out, path, *s);
		}
	}
}

static void add_names(struct ls_str *out, const struct ls_cmd *const *table)
{
	for (const struct ls_cmd *const *c = table; *c; c++)
		ls_str_addf(out, "%s%s", c == table ? "" : " ", (*c)->name);
}

static const char open_end[] = "[:N]";

/* A closed choice, or one that is closed apart from a number: auto|cpu|cuda[:N]. */
static bool option_has_words(const struct ls_opt *o)
{
	return ls_opt_is_choice(o) || (o->arg && strstr(o->arg, open_end));
}

static void add_choices(struct ls_str *out, const char *arg)
{
	for (; *arg; arg++)
		if (ls_str_starts(arg, open_end))
			arg += strlen(open_end) - 1;
		else
			ls_str_addf(out, "%c", *arg == '|' ? ' ' : *arg);
}

/* Whether the option's value is the name of a shipped spec, or a file. */
static bool option_is_spec(const struct ls_opt *o)
{
	return o->arg && strcmp(o->arg, "NAME|FILE") == 0;
}

static bool argument_is_spec(const char *path, const struct ls_cmd *cmd)
{
	return strncmp(path, "spec ", 5) == 0 && cmd->min_pos > 0;
}

static void add_specs(struct ls_str *out)
{
	char *name;
	for (size_t i = 0; (name = ls_spec_shipped(i)); i++) {
		ls_str_addf(out, "%s%s", i ? " " : "", name);
		free(name);
	}
}

static void bash_leaf(struct ls_str *out, const char *path, const struct ls_cmd *cmd)
{
	const struct ls_opt *tables[] = {cmd->opts, ls_common_opts};
	ls_str_addf(out, "    '%s') opts='", path);
	for (size_t t = 0; t < 2; t++)
		for (const struct ls_opt *o = tables[t]; o && o->name; o++)
			ls_str_addf(out, "--%s ", o->name);
	ls_str_add(out, "'\n      case $prev in\n");
	for (const struct ls_opt *o = cmd->opts; o && o->name; o++)
		if (option_has_words(o)) {
			ls_str_addf(out, "        --%s) words='", o->name);
			add_choices(out, o->arg);
			ls_str_add(out, "' ;;\n");
		} else if (option_is_spec(o)) {
			ls_str_addf(out, "        --%s) more=$specs ;;\n", o->name);
		}
	ls_str_addf(out, "        *) %s;;\n      esac ;;\n",
		    argument_is_spec(path, cmd) ? "more=$specs " : "");
}

static void bash_script(struct ls_str *out)
{
	ls_str_add(out, "# bash completion for lockstep, written by `lockstep completion "
			"bash`\n_lockstep()\n{\n"
			"  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
			"path=${COMP_WORDS[1]} "
			"words= opts= more=\n  local specs='");
	add_specs(out);
	ls_str_add(out, "'\n  case $COMP_CWORD:$path in\n    1:*) words='");
	add_names(out, ls_cmds);
	ls_str_add(out, " --version --help' ;;\n");
	for (const struct ls_cmd *const *c = ls_cmds; *c; c++)
		if ((*c)->subs) {
			ls_str_addf(out, "    2:%s) words='", (*c)->name);
			add_names(out, (*c)->subs);
			ls_str_addf(out,
				    " --help' ;;\n    *:%s) path=\"$path ${COMP_WORDS[2]}\" ;;\n",
				    (*c)->name);
		}
	ls_str_add(out, "  esac\n  case $path in\n");
	each_leaf(out, bash_leaf);
	ls_str_add(out, "  esac\n  if [ -z \"$words\" ] && [[ $cur == -* ]]; then words=$opts; fi\n"
			"  if [ -n \"$words\" ]; then\n    mapfile -t COMPREPLY < <(compgen -W "
			"\"$words\" -- \"$cur\")\n"
			"  else\n    mapfile -t COMPREPLY < <(compgen -W \"$more\" -- \"$cur\"; "
			"compgen -f -- \"$cur\")\n"
			"  fi\n}\n"
			"complete -o filenames -F _lockstep lockstep\n");
}

/* Text inside single quotes, without the characters that zsh's _arguments and fish treat
 * specially. */
static void add_quoted(struct ls_str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			ls_str_add(out, "'\\''");
		else if (*text == '[' || *text == ']')
			ls_str_addf(out, "\\%c", *text);
		else
			ls_str_add_bytes(out, text, 1);
	}
}

static void zsh_leaf(struct ls_str *out, const char *path, const struct ls_cmd *cmd)
{
	const struct ls_opt *tables[] = {cmd->opts, ls_common_opts};
	ls_str_addf(out, "    '%s') _arguments -s -S", path);
	for (size_t t = 0; t < 2; t++)
		for (const struct ls_opt *o = tables[t]; o && o->name; o++) {
			ls_str_addf(out, " \\\n      '*--%s[", o->name);
			add_quoted(out, o->help);
			ls_str_add(out, "]");
			if (option_has_words(o)) {
				ls_str_add(out, ":value:(");
				add_choices(out, o->arg);
				ls_str_add(out, ")");
			} else if (o->arg && !ls_opt_is_optional(o)) {
				ls_str_addf(out, ":value:%s",
					    option_is_spec(o) ? "_lockstep_spec" : "_files");
			}
			ls_str_add(out, "'");
		}
	ls_str_addf(out, " \\\n      '*:argument:%s' ;;\n",
		    argument_is_spec(path, cmd) ? "_lockstep_spec" : "_files");
}

static void zsh_values(struct ls_str *out, const struct ls_cmd *const *table)
{
	for (; *table; table++) {
		ls_str_addf(out, " '%s:", (*table)->name);
		add_quoted(out, (*table)->summary);
		ls_str_add(out, "'");
	}
}

/* The variable must not be called path, which in zsh is PATH. */
static void zsh_script(struct ls_str *out)
{
	ls_str_add(out, "#compdef lockstep\n# zsh completion for lockstep, written by `lockstep "
			"completion zsh`\n"
			"_lockstep_spec() { compadd -- ");
	add_specs(out);
	ls_str_add(out, "; _files }\n_lockstep() {\n  local -a names\n  local name=$words[2]\n"
			"  if (( CURRENT == 2 )); then\n    names=(");
	zsh_values(out, ls_cmds);
	ls_str_add(out, ")\n    _describe command names\n    return\n  fi\n  case $name in\n");
	for (const struct ls_cmd *const *c = ls_cmds; *c; c++)
		if ((*c)->subs) {
			ls_str_addf(out,
				    "    %s)\n      if (( CURRENT == 3 )); then\n        names=(",
				    (*c)->name);
			zsh_values(out, (*c)->subs);
			ls_str_add(out,
				   ")\n        _describe command names\n        return\n      fi\n"
				   "      name=\"$name $words[3]\"\n      shift words; (( "
				   "CURRENT-- )) ;;\n");
		}
	ls_str_add(out, "  esac\n  shift words; (( CURRENT-- ))\n  case $name in\n");
	each_leaf(out, zsh_leaf);
	ls_str_add(out, "  esac\n}\n_lockstep \"$@\"\n");
}

static void fish_leaf(struct ls_str *out, const char *path, const struct ls_cmd *cmd)
{
	const struct ls_opt *tables[] = {cmd->opts, ls_common_opts};
	for (size_t t = 0; t < 2; t++)
		for (const struct ls_opt *o = tables[t]; o && o->name; o++) {
			ls_str_addf(out, "complete -c lockstep -n '__lockstep_at %s' -l %s", path,
				    o->name);
			if (o->letter)
				ls_str_addf(out, " -s %c", o->letter);
			if (option_has_words(o)) {
				ls_str_add(out, " -xa '");
				add_choices(out, o->arg);
				ls_str_add(out, "'");
			} else if (o->arg && !ls_opt_is_optional(o)) {
				ls_str_add(out, " -r");
			}
			if (option_is_spec(o)) {
				ls_str_add(out, " -a '");
				add_specs(out);
				ls_str_add(out, "'");
			}
			ls_str_add(out, " -d '");
			add_quoted(out, o->help);
			ls_str_add(out, "'\n");
		}
	if (argument_is_spec(path, cmd)) {
		ls_str_addf(out, "complete -c lockstep -n '__lockstep_at %s' -a '", path);
		add_specs(out);
		ls_str_add(out, "'\n");
	}
}

static void fish_script(struct ls_str *out)
{
	ls_str_add(out, "# fish completion for lockstep, written by `lockstep completion fish`\n"
			"function __lockstep_at\n  set -l words (commandline -opc)\n"
			"  test (count $words) -gt (count $argv); or return 1\n"
			"  set -l last (math (count $argv) + 1)\n"
			"  test \"$words[2..$last]\" = \"$argv\"\nend\n");
	for (const struct ls_cmd *const *c = ls_cmds; *c; c++) {
		ls_str_addf(out, "complete -c lockstep -n __fish_use_subcommand -xa %s -d '",
			    (*c)->name);
		add_quoted(out, (*c)->summary);
		ls_str_add(out, "'\n");
		for (const struct ls_cmd *const *s = (*c)->subs; s && *s; s++) {
			ls_str_addf(out,
				    "complete -c lockstep -n 'test (count (commandline -opc)) -eq "
				    "2; and __lockstep_at %s' "
				    "-xa %s -d '",
				    (*c)->name, (*s)->name);
			add_quoted(out, (*s)->summary);
			ls_str_add(out, "'\n");
		}
	}
	each_leaf(out, fish_leaf);
}

static int run_completion(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	static const struct {
		const char *shell;
		void (*script)(struct ls_str *out);
	} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		if (strcmp(shells[i].shell, args->pos[0]) != 0)
			continue;
		struct ls_str out = {0};
		shells[i].script(&out);
		if (ls_args_has(args, "json"))
			ls_cmd_print_json_take(
				json_pack("{s:s,s:s}", "shell", args->pos[0], "script", out.s));
		else
			fputs(out.s, stdout);
		ls_str_done(&out);
		return 0;
	}
	return ls_cmd_usage("completion: \"%s\" is not one of bash, zsh, fish", args->pos[0]);
}

const struct ls_cmd ls_cmd_completion = {
	.name = "completion",
	.summary = "print the completion script of a shell",
	.synopsis = "bash|zsh|fish",
	.details = "bash: lockstep completion bash > "
		   "~/.local/share/bash-completion/completions/lockstep\n"
		   "zsh:  lockstep completion zsh > a folder of $fpath, as _lockstep\n"
		   "fish: lockstep completion fish > ~/.config/fish/completions/lockstep.fish",
	.min_pos = 1,
	.max_pos = 1,
	.run = run_completion,
};
