# the head tells the command that was given, and a description swallows nothing that
# follows it
printf '{"schema": 1, "name": "t", "description": "ends in \\\\", "torch": "2.9.0", "image": {"base": "a/b:1", "tag": "c/d:2"}}' >pin.json
for kind in dockerfile requirements github makefile kaggle-boot compose conda devcontainer; do
	lockstep spec render pin.json --$kind -o out.$kind
	grep -F -A1 'Rendered by' out.$kind
done
make -n -f out.makefile spec.check
