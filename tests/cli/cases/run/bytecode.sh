# the hook is compiled once, and not in each run; an entry that is damaged is made again;
# a cache that others may write to is not read
unset PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX
came() { lockstep run -- python3 -v -c pass 2>&1 | grep -cE "code object from .*/__pycache__/lockstep_hook\.[^/]*\.pyc'"; }
entries=$XDG_CACHE_HOME/lockstep/hook
echo "first run: $(came)"
ls "$entries" | grep -o ^lockstep_hook
echo "second run: $(came)"
printf x >>"$(echo "$entries"/lockstep_hook.*)"
echo "damaged: $(came), again: $(came)"
chmod o+w "$entries"
echo "open to others: $(came)"
chmod o-w "$entries"
# without a cache, and with one that cannot be made, all is as before
XDG_CACHE_HOME='' HOME='' lockstep run -- python3 -c 'print("none")'
XDG_CACHE_HOME=/dev/null lockstep run -- python3 -c 'print("no folder")'
