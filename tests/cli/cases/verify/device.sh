# --vary device: the run on the CPU sees no GPU; without a GPU nothing is started
printf 'echo "$LOCKSTEP_DEVICE [$CUDA_VISIBLE_DEVICES]" >$LOCKSTEP_OUT/seen\n' >see
CUDA_VISIBLE_DEVICES=7 lockstep verify --vary device=cpu,cpu -o v -- sh see
echo "status $?"
cat v/001/run1/seen
for values in cpu,cuda cuda,cpu cpu,tpu ,cpu; do
	lockstep verify --vary "device=$values" -o w -- sh see
	echo "status $?"
done
lockstep verify --bisect --vary device=cpu,cuda -o w -- sh see
echo "status $?"
ls
