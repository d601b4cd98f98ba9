/* Looks at this machine and prints what `lockstep doctor --json` prints. */
#include <lockstep.h>
#include <stdio.h>

extern char **environ;

int main(void)
{
	enum ls_answer answer;
	struct ls_err err;
	char *json;
	if (ls_doctor(NULL, (const char *const *)environ, &json, &answer, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	fputs(json, stdout);
	ls_free(json);
	return 0;
}
