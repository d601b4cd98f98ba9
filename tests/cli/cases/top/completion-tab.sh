# The tabulator key in real shells: commands, subcommands, options, their values, shipped
# specs, files.
set -e
lockstep completion bash >c.bash
mkdir fpath
lockstep completion zsh >fpath/_lockstep
touch 'pin ned.json' cutter aut cpus
lines=('lockstep doc<TAB>' 'lockstep spec ren<TAB>' 'lockstep doctor --fail<TAB>' 'lockstep spec render x --dock<TAB>'
	'lockstep doctor --spec kag<TAB>' 'lockstep doctor --spec pin<TAB>' 'lockstep spec check gpu-i<TAB>' 'lockstep spec diff pin<TAB> kag<TAB>'
	'lockstep fm train --opt<TAB> ftr<TAB>' 'lockstep fm train --device cu<TAB>' 'lockstep fm predict --device au<TAB>' 'lockstep validate --device cp<TAB>')
python3 "$ROOT/tests/cli/tab.py" bash "${lines[@]}"
python3 "$ROOT/tests/cli/tab.py" zsh "${lines[@]}"
lockstep completion fish >c.fish
for line in "${lines[@]}"; do
	fish --no-config -c "source c.fish; complete -C '${line%<TAB>}'" | cut -f 1 | sed 's/^/fish /'
done
