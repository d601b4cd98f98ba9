/* The GitHub Actions workflow of a spec: the parity gate, its GPU rule, and the weekly look for
 * drift. */
#include <string.h>

#include "env/render/render.h"

/* doctor_head, then --cuda where the spec is about CUDA, then doctor_tail. */
static const char doctor_head[] =
	"      - name: Doctor\n"
	"        id: doctor\n"
	"        shell: bash\n"
	"        run: |\n"
	"          gpus=()\n"
	"          if [ -e /dev/nvidiactl ]; then gpus=(--gpus all); fi\n"
	"          status=0\n"
	"          docker run --rm \"${gpus[@]}\" --ipc=host --user \"$(id -u):$(id -g)\" \\\n"
	"            -v \"$PWD:/workspace\" -w /workspace \"$IMAGE\" \\\n"
	"            lockstep doctor ";

static const char doctor_tail[] =
	"--spec \"$SPEC\" --fail-on-mismatch --emit-json parity_report.json || "
	"status=$?\n"
	"          case $status in\n"
	"          0) state=pass ;;\n"
	"          3) state=skip ;;\n"
	"          *) state=fail ;;\n"
	"          esac\n"
	"          echo \"state=$state\" >>\"$GITHUB_OUTPUT\"\n"
	"          if [ $state = skip ]; then\n"
	"            echo '::warning title=CUDA parity::required but skipped: this runner cannot "
	"tell (no GPU)'\n"
	"          fi\n"
	"          [ $state != fail ] || exit \"$status\"\n"
	"      - name: Upload parity report\n"
	"        if: always()\n"
	"        uses: actions/upload-artifact@v4\n"
	"        with:\n"
	"          name: cuda-parity\n"
	"          path: parity_report.json\n"
	"          if-no-files-found: warn\n";

static const char gate_job[] =
	"\n  gpu-gate:\n"
	"    name: GPU run before merge\n"
	"    needs: parity\n"
	"    if: always() && github.event_name == 'pull_request'\n"
	"    runs-on: ubuntu-24.04\n"
	"    steps:\n"
	"      - name: A skipped parity run is enough unless the label gpu-required is set\n"
	"        shell: bash\n"
	"        env:\n"
	"          STATE: ${{ needs.parity.outputs.state }}\n"
	"          LABELLED: ${{ contains(github.event.pull_request.labels.*.name, 'gpu-required') "
	"}}\n"
	"        run: |\n"
	"          case $STATE:$LABELLED in\n"
	"          pass:*) echo 'parity holds' ;;\n"
	"          skip:false) echo '::notice::parity was not looked at on a GPU; label "
	"gpu-required asks for it' ;;\n"
	"          skip:*) echo '::error::gpu-required is set and no GPU runner has looked yet'; "
	"exit 1 ;;\n"
	"          *) echo '::error::parity does not hold'; exit 1 ;;\n"
	"          esac\n";

static const char drift_steps[] =
	"      - uses: actions/checkout@v4\n"
	"      - name: Capture\n"
	"        shell: bash\n"
	"        run: |\n"
	"          docker pull --quiet \"$WATCH\"\n"
	"          tool=$(docker create \"$IMAGE\")\n"
	"          docker cp \"$tool:/opt/lockstep\" lockstep-tool\n"
	"          docker rm \"$tool\"\n"
	"          docker run --rm --entrypoint /opt/lockstep/bin/lockstep \\\n"
	"            -v \"$PWD/lockstep-tool:/opt/lockstep:ro\" -v \"$PWD:/workspace:ro\" -w "
	"/workspace \"$WATCH\" \\\n"
	"            spec capture --like \"$SPEC\" --name fresh >fresh.json\n"
	"      - name: Compare with the pin\n"
	"        id: diff\n"
	"        shell: bash\n"
	"        run: |\n"
	"          status=0\n"
	"          docker run --rm -v \"$PWD:/workspace:ro\" -w /workspace \"$IMAGE\" \\\n"
	"            lockstep spec diff \"$SPEC\" fresh.json --markdown >drift.md || status=$?\n"
	"          cat drift.md >>\"$GITHUB_STEP_SUMMARY\"\n"
	"          case $status in\n"
	"          0) drift=false ;;\n"
	"          1) drift=true ;;\n"
	"          *) exit \"$status\" ;;\n"
	"          esac\n"
	"          echo \"drift=$drift\" >>\"$GITHUB_OUTPUT\"\n"
	"      - name: Upload the capture\n"
	"        if: always()\n"
	"        uses: actions/upload-artifact@v4\n"
	"        with:\n"
	"          name: drift\n"
	"          path: |\n"
	"            fresh.json\n"
	"            drift.md\n"
	"      - name: Open an alert\n"
	"        if: steps.diff.outputs.drift == 'true'\n"
	"        shell: bash\n"
	"        env:\n"
	"          GH_TOKEN: ${{ github.token }}\n"
	"        run: |\n"
	"          title=\"Environment drift against $SPEC\"\n"
	"          number=$(gh issue list --state open --search \"in:title \\\"$title\\\"\" --json "
	"number --jq "
	"'.[0].number // "
	"empty')\n"
	"          if [ -n \"$number\" ]; then\n"
	"            gh issue comment \"$number\" --body-file drift.md\n"
	"          else\n"
	"            gh issue create --title \"$title\" --body-file drift.md\n"
	"          fi\n";

static void runner(const struct ls_spec *spec, struct ls_str *out)
{
	if (!spec->runner || !spec->runner[0]) {
		ls_str_add(out, "ubuntu-24.04");
		return;
	}
	for (char **p = spec->runner; *p; p++)
		ls_str_addf(out, "%s\"%s\"", p == spec->runner ? "[" : ", ", *p);
	ls_str_add(out, "]");
}

int ls_render_github(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const char *ref, *watch = spec->image.watch ? spec->image.watch : spec->image.base;
	int rc = ls_render_spec_ref(spec, &ref, err);
	if (!rc && !spec->image.base)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: the workflow runs in a container: \"image\" is missing",
				spec->path);
	if (rc)
		return rc;
	ls_render_head(spec, "github", "#", out);
	ls_str_addf(out,
		    "name: cuda-parity\n\non:\n  push:\n    branches: [main]\n  pull_request:\n"
		    "    types: [opened, synchronize, reopened, labeled, unlabeled]\n"
		    "  schedule:\n    - cron: \"%s\"\n  workflow_dispatch:\n\n"
		    "permissions:\n  contents: read\n\n"
		    "env:\n  SPEC: \"%s\"\n  IMAGE: \"%s\"\n  WATCH: \"%s\"\n\njobs:\n"
		    "  parity:\n    name: CUDA parity (%s)\n    if: github.event_name != "
		    "'schedule'\n    runs-on: ",
		    spec->schedule ? spec->schedule : "17 4 * * 1", ref, ls_render_tag(spec), watch,
		    spec->name);
	runner(spec, out);
	ls_str_add(out, "\n    timeout-minutes: 30\n    outputs:\n      state: ${{ "
			"steps.doctor.outputs.state }}\n    steps:\n"
			"      - uses: actions/checkout@v4\n");
	ls_str_addf(out, "%s%s%s", doctor_head, ls_render_cuda(spec), doctor_tail);
	ls_str_add(out, gate_job);
	ls_str_add(out, "\n  drift:\n    name: Weekly look for drift\n"
			"    if: github.event_name == 'schedule' || github.event_name == "
			"'workflow_dispatch'\n"
			"    runs-on: ubuntu-24.04\n    permissions:\n      contents: read\n      "
			"issues: write\n    steps:\n");
	ls_str_add(out, drift_steps);
	return 0;
}
