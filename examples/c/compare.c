/* Compares two checkpoints, files or folders to the last bit: compare A B. The exit status
 * is that of `lockstep compare`. */
#include <lockstep.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct ls_comparison *c;
	struct ls_err err;
	char *text;
	if (argc != 3) {
		fprintf(stderr, "compare A B\n");
		return 2;
	}
	if (ls_comparison_new(argv[1], argv[2], NULL, &c, &err) ||
	    ls_comparison_report(c, "text", &text, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	fputs(text, stdout);
	int status = (int)ls_comparison_answer(c);
	ls_free(text);
	ls_comparison_free(c);
	return status;
}
