# NVML is there, the kernel module is not.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
rm -r "$root/sys/module" "$root/proc/driver"
echo 'init 9' >>"$script"
doctor --cuda -v --fail-on-mismatch | grep -A4 -e driver-fails -e no-gpu
echo "status ${PIPESTATUS[0]}"
