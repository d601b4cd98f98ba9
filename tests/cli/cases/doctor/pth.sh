# A .pth file that runs Python may add site folders: what is not found is then unknown,
# not absent. What installers write
# by themselves adds none.
. "$ROOT/tests/fake/machine.sh"
site=/usr/local/lib/python3.10/dist-packages
show() { doctor -v --spec t.json | grep -E '^(ok|unknown|DIFFERS) +package' | sed 's/  */ /g'; }
machine kaggle
echo '{"schema": 1, "name": "t", "packages": {"lightning": "2.5.5"}}' >t.json
put $site/distutils-precedence.pth "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'"
put $site/_virtualenv.pth 'import _virtualenv'
put $site/__editable__.mine-1.0.pth 'import __editable___mine_1_0_finder; __editable___mine_1_0_finder.install()'
put $site/google-nspkg.pth "import sys, types, os;has_mfs = sys.version_info > (3, 5)"
show
put $site/zz-more.pth 'import site; site.addsitedir("/srv/more")'
show
doctor --spec t.json --fail-on-mismatch >/dev/null; echo "status $?"
echo 'a folder that a .pth file names is searched'
rm "$root$site/zz-more.pth"
put $site/more.pth /srv/more
dist /srv/more lightning 2.5.5
show
