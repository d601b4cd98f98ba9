# docker-compose.yml, devcontainer.json and environment.yml; a spec without CUDA reserves
# no GPU, and a dollar is doubled for compose
lockstep spec render kaggle-2025-09 --compose
lockstep spec render kaggle-2025-09 --devcontainer
lockstep spec render kaggle-2025-09 --conda
cat >cpu.json <<'EOF'
{"schema": 1, "name": "cpu", "image": "python:3.12-slim", "python": ">=3.10,<3.13", "torch": "2.9.0+cpu",
 "gpus": [{"name": "T4", "count": 2}], "env": {"A": "$x \"y\""},
 "packages": {"python-apt": "2.4.0+ubuntu1"}, "captured": true}
EOF
for kind in compose devcontainer conda; do lockstep spec render cpu.json --$kind; done
sed 's/+cpu/+cu130/' cpu.json >gpu.json
lockstep spec render gpu.json --compose | grep -A2 driver:
# what is missing is said
echo '{"schema": 1, "name": "bare", "driver": ">=580"}' >bare.json
echo '{"schema": 1, "name": "odd", "python": "3.1a*"}' >odd.json
for kind in compose devcontainer conda; do lockstep spec render bare.json --$kind -o out; echo "-> $?"; done
lockstep spec render odd.json --conda -o out; echo "-> $?"
ls out
# what was told: each on a line
{ lockstep spec render bare.json --compose; lockstep spec render bare.json --conda; lockstep spec render odd.json --conda; } 2>&1
