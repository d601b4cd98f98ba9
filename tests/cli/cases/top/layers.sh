# The lint of the layers fails on an include that the table does not allow, on a room that
# is not in it, and on a cycle.
mkdir -p tree/docs tree/src/base tree/src/env tree/src/cmd
table() { printf '## Allowed includes\n\n| room | may include |\n|---|---|\n%s\n' "$1" >tree/docs/ARCHITECTURE.md; }
lint() { "$ROOT/tools/check-layers" tree; echo "status $?"; }
table $'| `base` | nothing |\n| `env` | base |\n| `cmd` | base, env |'
echo '#include "base/a.h"' >tree/src/env/ok.c
printf '/* A thing.\n * Nothing owned.\n * Any thread. */\n' >tree/src/base/a.h
lint
echo '#include "cmd/cmd.h"' >tree/src/base/upward.c
lint
mv tree/src/base/upward.c tree/src/cmd/fine.c
mkdir tree/src/attic && : >tree/src/attic/x.c
lint
rm -r tree/src/attic
table $'| `base` | env |\n| `env` | base |\n| `cmd` | base, env |'
lint
