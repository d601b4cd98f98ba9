# a capture against the pin: what fits is no drift, nor is what it lists beyond, nor what
# it could not see
cat >fresh.json <<'J'
{"schema": 1, "name": "fresh", "captured": true, "python": "3.10.14", "torch": "2.3.1+cu121", "torch_cuda": "12.1",
 "cudnn": "8902", "cuda": "12.1.105", "os": {"match": "ubuntu 22.04", "level": "informational"},
 "gpus": {"one_of": [{"name": "Tesla T4", "count": 2}], "min_capability": "7.5", "memory": "15360 MiB"},
 "packages": {"torchvision": "0.18.1+cu121", "torchaudio": "2.3.1+cu121", "numpy": "1.26.4", "pandas": "2.2.2",
  "scipy": "1.13.1", "typer": "0.12.3", "rich": "13.7.1", "jsonschema": "4.23.0"}}
J
lockstep spec diff kaggle-2025-09 fresh.json || exit 9
# and one where the image was updated behind our back
sed -e 's/2.3.1+cu121/2.6.0+cu124/' -e 's/"8902"/"90100"/' -e 's/, "jsonschema": "4.23.0"/}, "absent": ["package.jsonschema"]/' \
	-e 's/}}$/}/' fresh.json >moved.json
lockstep spec diff kaggle-2025-09 moved.json --markdown
