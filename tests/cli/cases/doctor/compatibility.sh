# What only the tables in data/ know.
. "$ROOT/tests/fake/machine.sh"
faults() { doctor -v "$@" | sed -n '/^What to look at/,$p'; }
say() { printf '\n== %s\n' "$1"; }
site=/usr/local/lib/python3.10/dist-packages

say 'a driver that does not run this CUDA'
machine t4
faults --cuda | grep -A3 driver-too-old

say 'a driver of the same major version, older'
machine kaggle
torch $site 2.4.0+cu124 12.4 9.1.0.70
rm -r "$root$site"/torch-2.3.1.dist-info
faults | grep -A1 driver-minor

say 'a GPU that this torch build has no code for'
machine p100
rm -r "$root$site"/{torch-,nvidia}*
torch $site 2.9.0+cu130 13.0 9.13.0.50
driver 580.65.06 13000
faults | grep -A2 arch-not-in-build

say 'two installs of torch, one over the other'
machine kaggle
torch $site 2.4.0+cu121 12.1 8.9.2.26
faults | grep -A1 installed-twice

say 'a torch without CUDA beside a GPU'
machine kaggle
rm -r "$root$site"/{torch-,nvidia}*
torch $site 2.3.1+cpu None x
faults | grep -A1 torch-without-cuda

say 'a driver branch past its end'
machine kaggle
variables+=(SOURCE_DATE_EPOCH=1794700800)
faults | grep -A1 end-of-life
