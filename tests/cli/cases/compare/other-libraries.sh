# Files of libraries that the tests do not install (tests/tensor/files/make.py): a and b
# hold the same values, c does not.
f=$ROOT/tests/tensor/files
show() {
	echo "--- $1 $2"
	lockstep compare "$f/$1" "$f/$2"
	echo "exit $?"
}
show a.joblib b.joblib
show a.joblib z.joblib
show a.joblib c.joblib
show objects-a.joblib objects-c.joblib
