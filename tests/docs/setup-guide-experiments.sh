# the example that the page copies beside the data
cp "$ROOT/examples/micro_batches.py" .
