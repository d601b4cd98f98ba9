# shellcheck shell=bash disable=SC2154,SC2317 # lines above set variables; traps call stop
# A new folder for each attempt: Slurm runs this again after a preemption, or when a node
# fails. It appears whole, with its record in it.
new=runs/$experiment/.attempt-$SLURM_JOB_ID-$$
mkdir -p "$new/out" || exit
printf '{"submission": "%s", "job": "%s", "nodes": "%s", "gpus": "%s", "visible": "%s", "started": %s}\n' \
	"$submission" "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "${SLURM_JOB_GPUS-}" "${CUDA_VISIBLE_DEVICES-}" "$(date +%s)" \
	>"$new/start.json" || exit
attempt=$first
until mv -T -- "$new" "runs/$experiment/attempt-$attempt" 2>/dev/null; do
	[ -e "runs/$experiment/attempt-$attempt" ] || exit 1
	attempt=$((attempt + 1))
done
folder=$PWD/runs/$experiment/attempt-$attempt
export LOCKSTEP_EXPERIMENT=$experiment LOCKSTEP_ATTEMPT=$submission.$experiment.$attempt
export LOCKSTEP_OUT=$folder/out LOCKSTEP_PREVIOUS='' CUDA_DEVICE_ORDER=PCI_BUS_ID
[ "$attempt" -eq 1 ] || LOCKSTEP_PREVIOUS=$PWD/runs/$experiment/attempt-$((attempt - 1))/out
exec </dev/null >>"$folder/output.log" 2>&1

# SIGTERM is Slurm's: scancel, preemption, the time limit. SIGUSR1 is the soft limit.
stopped=no child=
stop() { stopped=$1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null; }
trap 'stop told' TERM
trap 'stop soft' USR1
pause() { sleep "$1" & wait "$!"; }
# It ends with the script, which may be killed without it.
lease() { trap 'kill "$!" 2>/dev/null; exit' TERM; while pause 60 && kill -0 "$$"; do touch "$folder/alive"; done 2>/dev/null; }
limit() {
	trap 'kill "$!" 2>/dev/null; exit' TERM
	pause "$soft_limit" && kill -USR1 "$$" && pause "$grace" && kill -KILL "$child"
}
begun=$(date +%s%N)
program &
child=$!
[ "$stopped" = no ] || kill -TERM "$child" 2>/dev/null
lease &
helpers=("$!")
if [ "$soft_limit" != 0 ]; then limit & helpers+=("$!"); fi
wait "$child"
while kill -0 "$child" 2>/dev/null; do wait "$child"; done # a signal ends wait early
wait "$child"
status=$?
kill "${helpers[@]}" 2>/dev/null

# How it ended. `again`: it met its soft limit and goes on in the next attempt.
again=false signal=0
if [ "$stopped" = soft ]; then again=$requeue; fi
if [ "$status" -gt 128 ]; then signal=$((status - 128)); fi
wall=$(($(date +%s%N) - begun))
record() {
	printf '{"status": %d, "signal": %d, "stopped": "%s", "again": %s, "wall_s": %d.%09d, "ended": %s}\n' \
		$((signal ? 0 : status)) "$signal" "$stopped" "$again" $((wall / 1000000000)) $((wall % 1000000000)) "$(date +%s)" \
		>"$folder/exit.new" && sync "$folder/exit.new" && mv -T -- "$folder/exit.new" "$folder/exit.json"
}
for _ in {1..60}; do record && break; sleep 1; done # a full disk may recover
if $again; then scontrol requeue "$SLURM_JOB_ID"; fi
# Jobs that come after this one wait for status 0.
if [ "$stopped" != no ] && [ "$status" -eq 0 ]; then status=1; fi
exit "$status"
