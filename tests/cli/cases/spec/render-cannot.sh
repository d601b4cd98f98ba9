# what a spec lacks is said, and nothing is written
lockstep spec render gpu-inference-2024-11 --requirements -o r.txt; echo $?
echo '{"schema": 1, "name": "bare", "torch": ["2.3.1", "2.4.0"]}' >bare.json
lockstep spec render bare.json --dockerfile -o D; echo $?
lockstep spec render bare.json --github; echo $?
lockstep spec render bare.json --requirements; echo $?
echo '{"schema": 1, "name": "odd", "torch": "2.3.1+cu*"}' >odd.json
lockstep spec render odd.json --requirements; echo $?
mv bare.json 'a b.json' && lockstep spec render 'a b.json' --makefile; echo $?
echo '{"schema": 1, "name": "py", "image": "debian:12", "python": "3.13.x"}' >py.json
lockstep spec render py.json --dockerfile; echo $?
lockstep spec render kaggle-2025-09; echo $?
lockstep spec render kaggle-2025-09 --github --makefile; echo $?
ls
echo '{"schema": 1, "name": "t", "torch": "2.9.0", "image": "a/b:1"}' >untagged.json
lockstep spec render untagged.json --github
echo "no tag: $?"
