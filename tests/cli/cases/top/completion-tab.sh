# The tabulator key in real shells: commands, subcommands, options.
set -e
lockstep completion bash >c.bash
mkdir fpath
lockstep completion zsh >fpath/_lockstep
lines=('lockstep doc<TAB>' 'lockstep spec ren<TAB>' 'lockstep doctor --fail<TAB>' 'lockstep spec render x --dock<TAB>')
python3 "$ROOT/tests/cli/tab.py" bash "${lines[@]}"
python3 "$ROOT/tests/cli/tab.py" zsh "${lines[@]}"
lockstep completion fish >c.fish
for line in 'lockstep doc' 'lockstep spec ren' 'lockstep doctor --fail' 'lockstep spec render x --dock'; do
	fish --no-config -c "source c.fish; complete -C '$line'" | cut -f 1 | sed 's/^/fish /'
done
