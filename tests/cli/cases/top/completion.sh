# each shell accepts the script, and every command and option of the table is in it
set -e
for shell in bash zsh fish; do
	lockstep completion $shell > c.$shell
	lockstep help --json | python3 "$ROOT/tests/cli/completion_has.py" c.$shell
done
bash -n c.bash && zsh -n c.zsh && fish -n c.fish
bash -c '. ./c.bash; COMP_WORDS=(lockstep compl) COMP_CWORD=1; _lockstep; echo "${COMPREPLY[@]}"'
zsh -f -c '_arguments() { print -rl -- "${(@)argv}" | grep -o -- "--help\[[a-z ]*" }; words=(lockstep help --h) CURRENT=3; . ./c.zsh; whence -p ls > /dev/null || print PATH lost'
fish -c 'source c.fish; complete -C "lockstep help --h"'
lockstep completion tcsh || exit $?
