#!/usr/bin/env bash
# tests/gpu/validate.sh [--quick] [PROGRAM] [REPORT.md]: `lockstep validate` on a machine
# with a GPU, by a program that was copied there (default: build/device/lockstep, made by
# tools/cross-static). The machine needs nothing but a driver. The Markdown report goes to
# REPORT.md (default: REPORT.md), the JSON beside it. Exit status as of `lockstep
# validate`: 0 all passed and none skipped, 1 something differs, 3 a part could not run.
set -uo pipefail
mode=--full
if [ "${1:-}" = --quick ]; then mode=--quick; shift; fi
program=${1:-$(cd "$(dirname "$0")/../.." && pwd)/build/device/lockstep}
report=${2:-REPORT.md}
"$program" --version || exit 4
"$program" validate --device cuda "$mode" -o "$report" --json >"${report%.md}.json"
status=$?
[ -s "$report" ] && cat "$report"
echo "validate: exit $status"
exit $status
