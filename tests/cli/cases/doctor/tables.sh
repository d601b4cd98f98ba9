# Tables with a date: older than a year is said; --tables takes others; what is none is
# bad input.
. "$ROOT/tests/fake/machine.sh"
machine kaggle
doctor -v | grep -c tables-old
variables+=(SOURCE_DATE_EPOCH=1831852800) # January of 2028
doctor -v | grep -A1 tables-old | sed 's/ of 20[0-9-]*/ of DATE/'
mkdir mine
cat >mine/cuda-driver.json <<'JSON'
{"about": "drivers", "date": "2028-01-01", "rows": [{"cuda": "12.1", "driver_min": "990.10", "driver_shipped": "990.10"}]}
JSON
doctor -v --tables mine | grep -A1 driver-too-old
exec 2>&1
mkdir empty
doctor --tables empty; echo "status $?"
echo '{"rows": 1}' >mine/cuda-driver.json
doctor --tables mine; echo "status $?"
echo '{' >mine/cuda-driver.json
doctor --tables mine; echo "status $?"
doctor --tables nowhere; echo "status $?"
