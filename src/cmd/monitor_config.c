/* lockstep monitor --print-config: files for a fleet, of share/monitor/. */
#include <string.h>

#include "base/embed.h"
#include "cmd/monitor.h"

int ls_monitor_print_config(const char *name)
{
	static const char *const files[][2] = {
		{"prometheus", "prometheus.yml"}, {"alerts", "alerts.yml"},
		{"grafana", "grafana.json"},      {"systemd", "lockstep-monitor.service"},
		{"compose", "compose.yml"},       {"daemonset", "daemonset.yml"},
		{"dockerfile", "Dockerfile"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[64];
		snprintf(path, sizeof path, "share/monitor/%s", files[i][1]);
		const struct ls_blob *blob = ls_embed_find(path);
		if (strcmp(files[i][0], name) != 0 || !blob)
			continue;
		fwrite(blob->data, 1, blob->len, stdout);
		return LS_EXIT_YES;
	}
	return LS_EXIT_INTERNAL;
}
