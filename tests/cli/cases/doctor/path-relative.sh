# An empty or relative element of PATH is seen from where we are, as shells see it.
mkdir -p here/bin
printf '\177ELF\0Python\0%s\0' 3.12.4 >here/bin/python3.12
chmod +x here/bin/python3.12
ln -s python3.12 here/bin/python3
lockstep=$(command -v lockstep)
show() { "$lockstep" doctor "$@" | grep -E '^python(\.path)? ' | sed 's/  */ /g'; }
coreutils=$PATH
for path in here/bin: ./here/bin:/nowhere /nowhere:here/bin; do
	(PATH=$path:$coreutils; show)
done
cd here/bin || exit 9
PATH=:$coreutils show
PATH=:$coreutils show --python python3.12
