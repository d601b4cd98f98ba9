/* The bootstrap of a Kaggle notebook: set what must be set, install nothing of the torch family,
 * check the versions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/render/render.h"

static void export_line(void *arg, const char *name, const char *value)
{
	struct ls_str *out = arg;
	ls_str_addf(out, "export %s=", name);
	ls_render_quote(value, out);
	ls_str_add(out, "\n");
}

static void print_line(void *arg, const char *name, const char *value)
{
	(void)value;
	ls_str_addf(arg, "  printf '%%s=%%s\\n' %s \"$%s\"\n", name, name);
}

struct lists {
	struct ls_str pins, extras;
};

static bool is_torchs(const char *requirement)
{
	static const char *const family[] = {"torch", "torchvision", "torchaudio"};
	size_t n = strcspn(requirement, "=<>!~[ ;");
	for (size_t i = 0; i < sizeof family / sizeof *family; i++)
		if (strlen(family[i]) == n && strncmp(requirement, family[i], n) == 0)
			return true;
	return false;
}

/* torch and its companions belong to the notebook's image; everything else may be installed. */
static void sort_requirement(void *arg, const char *requirement)
{
	struct lists *l = arg;
	struct ls_str *list = is_torchs(requirement) ? &l->pins : &l->extras;
	ls_str_add(list, "  ");
	ls_render_quote(requirement, list);
	ls_str_add(list, "\n");
}

static const char install_part[] =
	"\n# Offline sessions have no index: attach the wheels as a dataset and name its folder in "
	"LOCKSTEP_WHEELS.\n"
	"if [ \"$install\" = 1 ] && [ ${#extras[@]} -gt 0 ]; then\n"
	"  wheels=${LOCKSTEP_WHEELS:-/kaggle/input/wheels}\n"
	"  if [ -d \"$wheels\" ]; then\n"
	"    python3 -m pip install --quiet --no-index --find-links \"$wheels\" \"${extras[@]}\"\n"
	"  else\n"
	"    python3 -m pip install --quiet \"${extras[@]}\"\n"
	"  fi\n"
	"fi\n";

/* check_head, then --cuda where the spec is about CUDA, then check_part. */
static const char check_head[] = "\nif command -v \"${LOCKSTEP:-lockstep}\" >/dev/null; then\n"
				 "  status=0\n"
				 "  \"${LOCKSTEP:-lockstep}\" doctor ";

static const char check_part[] = "--spec \"$spec\" "
				 "--fail-on-mismatch || status=$?\n"
				 "  exit \"$status\"\n"
				 "fi\n"
				 "\n# without lockstep: the pinned versions alone, as the "
				 "installed distributions state them\n"
				 "python3 - \"${pins[@]}\" \"${extras[@]}\" <<'PY'\n"
				 "import sys\n"
				 "from importlib.metadata import PackageNotFoundError, version\n"
				 "\n"
				 "wrong = 0\n"
				 "for pin in sys.argv[1:]:\n"
				 "    name, exact, wanted = pin.partition(\"==\")\n"
				 "    if not exact or wanted.endswith(\"*\"):\n"
				 "        continue\n"
				 "    try:\n"
				 "        found = version(name)\n"
				 "    except PackageNotFoundError:\n"
				 "        found = \"not installed\"\n"
				 "    if name.startswith(\"torch\") and \"+\" not in found:\n"
				 "        wanted = wanted.partition(\"+\")[0]  # some "
				 "distributions leave the build out of their metadata\n"
				 "    same = found == wanted\n"
				 "    wrong += not same\n"
				 "    print(f\"{'ok' if same else 'MISMATCH':8} {name:16} expected "
				 "{wanted:16} found {found}\")\n"
				 "sys.exit(1 if wrong else 0)\n"
				 "PY\n";

static void options_part(const struct ls_spec *spec, struct ls_str *out)
{
	ls_str_add(out, "install=0\nprint_env=0\nfor option in \"$@\"; do\n  case $option in\n  "
			"--install) install=1 ;;\n"
			"  --print-env) print_env=1 ;;\n"
			"  *) echo \"usage: kaggle-boot.sh [--install] [--print-env]\" >&2; exit 2 "
			";;\n  esac\ndone\n\n");
	ls_render_each_variable(spec, export_line, out);
	ls_str_add(out, "if [ \"$print_env\" = 1 ]; then\n");
	ls_render_each_variable(spec, print_line, out);
	ls_str_add(out, "  exit 0\nfi\n");
}

int ls_render_kaggle_boot(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const char *ref;
	struct lists l = {0};
	int rc = ls_render_spec_ref(spec, &ref, err);
	if (!rc)
		rc = ls_render_each_requirement(spec, sort_requirement, &l, err);
	if (!rc) {
		ls_str_add(out, "#!/usr/bin/env bash\n");
		ls_render_head(spec, "kaggle-boot", "#", out);
		ls_str_add(out, "#\n# In a notebook:  !bash bin/kaggle-boot.sh            0 "
				"parity, 1 mismatch, 3 cannot tell "
				"here\n"
				"#                 !bash bin/kaggle-boot.sh --install  also "
				"installs the packages that are not "
				"torch's\n"
				"#                 !bash bin/kaggle-boot.sh --print-env  the "
				"variables, one NAME=value a line\n"
				"set -euo pipefail\n\n");
		ls_str_addf(out, "spec=%s\n", ref);
		options_part(spec, out);
		ls_str_addf(out, "\npins=(\n%s)\nextras=(\n%s)\n", l.pins.s ? l.pins.s : "",
			    l.extras.s ? l.extras.s : "");
		ls_str_add(out, install_part);
		ls_str_addf(out, "%s%s%s", check_head, ls_render_cuda(spec), check_part);
	}
	ls_str_done(&l.pins);
	ls_str_done(&l.extras);
	return rc;
}
