# -o - is stdout, an empty name is none, and --json prints a document also when the text
# goes to a file
lockstep spec render kaggle-2025-09 --requirements -o - | head -n 1; ls
lockstep spec capture -o - | head -n 1; ls
lockstep spec render kaggle-2025-09 --requirements -o '' 2>&1; echo "-> $?"
lockstep spec capture -o '' 2>&1; echo "-> $?"
lockstep spec render kaggle-2025-09 --requirements --json -o r.txt; echo "-> $?"
lockstep spec capture --name mine --json -o c.json; echo "-> $?"
ls
