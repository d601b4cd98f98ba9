# the pinned digest, pip's addresses and the unchecked requirements change what is
# installed: drift like any other
make() { printf '{"schema": 1, "name": "t", "image": {"base": "a/b:1", "digest": "sha256:%064d", "apt": ["git", "%s"]}, "requirements": {"extra_index": "%s", "lines": ["a==1", "%s"]}}' "$@"; }
make 1 jq https://one.example b==1 >old.json
make 2 jq https://one.example b==1 >digest.json
make 1 curl https://two.example b==2 >rest.json
for new in old digest rest; do lockstep spec diff old.json $new.json; echo "-> $?"; done
# nobody asks a machine about these: a capture is not said to have lost them
printf '{"schema": 1, "name": "c", "captured": true}' >capture.json
lockstep spec diff old.json capture.json; echo "-> $?"
