# each shell accepts the script, and every command and option of the table is in it
set -e
for shell in bash zsh fish; do
	lockstep completion $shell > c.$shell
	lockstep help --json | python3 "$ROOT/tests/cli/completion_has.py" c.$shell
done
bash -n c.bash && zsh -n c.zsh && fish -n c.fish
bash -c '. ./c.bash; COMP_WORDS=(lockstep comp) COMP_CWORD=1; _lockstep; echo "${COMPREPLY[@]}"'
lockstep completion tcsh || exit $?
