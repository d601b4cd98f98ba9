# from a file: the files refer to it by its path; Python comes from elsewhere where the
# image has another
cp "$ROOT/specs/gpu-training-2024-11.json" pin.json
lockstep spec render pin.json --dockerfile -o Dockerfile && sed -n '/^FROM.*22.04$/,$p' Dockerfile
lockstep spec render pin.json --makefile -o Makefile && head -n 4 Makefile && tail -n 12 Makefile
lockstep spec render gpu-inference-2024-11 --dockerfile | sed -n '/^FROM.*slim$/,$p'
lockstep spec render --json pin.json --requirements
