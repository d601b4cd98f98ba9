# Bad usage is told with the option's name and status 2.
t() { lockstep plan "$@"; echo "-> $?"; }
t
t --from L40S:4 --to H200:2
t --from L40S --to H200:2 --batch 48
t --from L40S:4 --to H200:0 --batch 48
t --from L40S:4 --to H200:-1 --batch 48
t --from L40S:4 --to H201:2 --batch 48
t --from A100:4 --to H200:2 --batch 48
t --from L40S:4 --to H200:2 --batch 0
t --from L40S:4 --to H200:2 --batch -1
t --from L40S:4 --to H200:2 --batch 9223372036854775808
t --from L40S:4 --to H200:2 --batch 48.5
t --from L40S:1048576 --to H200:1 --batch 4294967296
t --from L40S:1048576 --to H200:1 --batch 1048576 --accum 1048576
t --from L40S:4 --to H200:2 --batch 48 --samples 9007199254740993
t --from L40S:4 --to H200:2 --batch 1 --samples 9007199254740992 --epochs 4294967296
t --from L40S:4 --to H200:2 --batch 1 --samples 9007199254740992 --warmup-epochs 4294967296
t --from L40S:4 --to H200:2 --batch 48 --warmup-epochs nan
t --from L40S:4 --to H200:2 --batch 48 --epochs 30
t --from L40S:4 --to H200:2 --batch 48 --samples 1000 --epochs 3 --steps 7
t --from L40S:4 --to H200:2 --batch 48 --warmup-epochs 3 --warmup-steps 7
t --from L40S:4 --to H200:2 --batch 48 --precision int8
t --from L40S:4 --to H200:2 --batch 48 --params 7X
t --from L40S:4 --to H200:2 --batch 48 --params 0
t --from L40S:4 --to H200:2 --batch 48 --params 1e300B
t --from L40S:4 --to H200:2 --batch 48 --params nan
t --from L40S:4 --to H200:2 --batch 48 --params ''
t --from L40S:4 --to H200:2 --batch 48 --activations -5
t --from L40S:4 --to H200:2 --batch 48 --lr 0
t --from L40S:4 --to H200:2 --batch 48 --lr inf
t --from L40S:4 --to H200:2 --batch 48 --manifest nowhere
echo '{"schema": "lockstep.run/1"}' >half.json
t --from L40S:4 --to H200:2 --batch 48 --manifest half.json
lockstep run -o nogpu -- true
t --from L40S:4 --to H200:2 --batch 48 --manifest nogpu
t --from L40S:4 --to H200:2 --batch 48 --yaml --env
t --from L40S:4 --to H200:2 --batch 48 -- train.py '{steps}'
t --from L40S:4 --to H200:4 --batch 48 --gpus-per-node 3
t --from L40S:4 --to H200:4 --batch 48 --gpus-per-node 0
t --from L40S:4 --to H200:2 --batch 48 --samples 100 --drop-last
