# An empty or relative element of PATH and PYTHONPATH is seen from where we are, as shells
# and Python see it.
mkdir -p here/bin
printf '\177ELF\0Python\0%s\0' 3.12.4 >here/bin/python3.12
chmod +x here/bin/python3.12
ln -s python3.12 here/bin/python3
ln -s python3.12 here/bin/python-of-ours # which no folder of the machine's own PATH has
lockstep=$(command -v lockstep)
show() { "$lockstep" doctor -v "$@" | grep -E '^python(\.path)? ' | sed 's/  */ /g'; }
coreutils=$PATH
for path in here/bin: ./here/bin:/nowhere /nowhere:here/bin; do
	(PATH=$path:$coreutils; show)
done
mkdir -p site/torch
printf "__version__ = '2.8.0+cpu'\ncuda: Optional[str] = None\n" >site/torch/version.py
torch() { PATH=here/bin:$coreutils "$lockstep" doctor -v | grep -E '^torch ' | sed 's/  */ /g'; }
for list in site /nowhere:./site; do PYTHONPATH=$list torch; done
PYTHONPATH=nowhere torch
(cd site && for list in : /nowhere: ::/nowhere; do PATH=../here/bin:$coreutils PYTHONPATH=$list "$lockstep" doctor -v; done) |
	grep -E '^torch ' | sed 's/  */ /g'
cd here/bin || exit 9
PATH=$coreutils: show --python python-of-ours
PATH=:$coreutils show
PATH=:$coreutils show --python python-of-ours
