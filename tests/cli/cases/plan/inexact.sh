# GPUs that cannot share the global batch: status 1, the nearest batches, and fewer GPUs.
lockstep plan --from L40S:4 --to H200:5 --batch 48 --samples 103000 --epochs 30 --warmup-epochs 5
echo "status $?"
# more GPUs than samples in the global batch, and nothing known but the batch
lockstep plan --from T4:1 --to "RTX 4090:8" --batch 3
echo "status $?"
# a DataLoader that drops what is left: the steps of an epoch may differ, and it says so
lockstep plan --from L40S:4 --to H200:2 --batch 1 --samples 9 --epochs 2 --drop-last
echo "status $?"
