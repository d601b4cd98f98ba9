#include "env/spec/spec_fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/spec/calendar.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

static bool made_of(const char *s, const char *set)
{
	return *s && !s[strspn(s, set)];
}

bool ls_spec_is_package(const char *name)
{
	size_t n = strlen(name);
	return n < 200 && made_of(name, LETTERS DIGITS "-_.") && isalnum((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[n - 1]);
}

bool ls_spec_is_variable(const char *name)
{
	return strlen(name) < 200 && made_of(name, LETTERS DIGITS "_") &&
	       !isdigit((unsigned char)name[0]);
}

/* These texts end up in comments, shell words and YAML: one line, no control
 * characters. */
static bool printable(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return false;
	return len < 4096;
}

static int to_text(const json_t *v, const char *key, const char *where, char **ret,
		   struct ls_err *err)
{
	if (!json_is_string(v))
		return ls_err_set(err, LS_EINPUT, "%s: %s: expected a string, found %s", where, key,
				  ls_json_kind(v));
	if (!printable(json_string_value(v), json_string_length(v)))
		return ls_err_set(err, LS_EINPUT,
				  "%s: %s: control characters, or more than 4095 bytes", where,
				  key);
	*ret = ls_xstrdup(json_string_value(v));
	return 0;
}

int ls_spec_text(const json_t *object, const char *key, const char *where, char **ret,
		 struct ls_err *err)
{
	const json_t *v = json_object_get(object, key);
	return v ? to_text(v, key, where, ret, err) : 0;
}

int ls_spec_object(const json_t *object, const char *key, const char *path, const char *const *keys,
		   const json_t **ret, struct ls_err *err)
{
	const json_t *v = json_object_get(object, key);
	*ret = v;
	if (!v)
		return 0;
	if (!json_is_object(v))
		return ls_err_set(err, LS_EINPUT, "%s: %s: expected an object, found %s", path, key,
				  ls_json_kind(v));
	char *where = ls_xasprintf("%s: %s", path, key);
	int rc = ls_json_only(v, keys, where, err);
	free(where);
	return rc;
}

/* A text made of the characters of set only; said is what it should be. */
static int word(const json_t *object, const char *key, const char *where, const char *set,
		const char *said, char **ret, struct ls_err *err)
{
	int rc = ls_spec_text(object, key, where, ret, err);
	if (!rc && *ret && !made_of(*ret, set))
		rc = ls_err_set(err, LS_EINPUT, "%s: %s: \"%.80s\" is not %s", where, key, *ret,
				said);
	return rc;
}

/* A list of texts (or one text) as a NULL-terminated array. set may be NULL. */
static int words(const json_t *object, const char *key, const char *where, const char *set,
		 char ***ret, struct ls_err *err)
{
	const json_t *v = json_object_get(object, key);
	if (!v)
		return 0;
	size_t n = json_is_array(v) ? json_array_size(v) : 1;
	char **list = *ret = ls_xalloc((n + 1) * sizeof *list);
	for (size_t i = 0; i < n; i++) {
		int rc = to_text(json_is_array(v) ? json_array_get(v, i) : v, key, where, &list[i],
				 err);
		if (rc)
			return rc;
		if (!*list[i] || (set && !made_of(list[i], set)))
			return ls_err_set(
				err, LS_EINPUT,
				"%s: %s: \"%.80s\" has characters that do not belong there", where,
				key, list[i]);
	}
	return 0;
}

static int parse_digest(struct ls_spec *spec, const json_t *v, const char *where,
			struct ls_err *err)
{
	static const char lead[] = "sha256:";
	char **d = &spec->image.digest;
	int rc = ls_spec_text(v, "digest", where, d, err);
	if (!rc && *d &&
	    (!ls_str_starts(*d, lead) || strlen(*d) != strlen(lead) + 64 ||
	     !made_of(*d + strlen(lead), DIGITS "abcdef")))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: digest: expected sha256: and 64 hexadecimal digits", where);
	return rc;
}

static const char reference[] = LETTERS DIGITS "./:_-", a_reference[] = "an image reference";

static int parse_image(struct ls_spec *spec, struct ls_err *err)
{
	static const char *const keys[] = {"base", "digest", "tag", "watch", "apt", NULL};
	const json_t *v = json_object_get(spec->json, "image");
	if (!v || json_is_string(v))
		return word(spec->json, "image", spec->path, reference, a_reference,
			    &spec->image.base, err);
	int rc = ls_spec_object(spec->json, "image", spec->path, keys, &v, err);
	if (rc)
		return rc;
	char *where = ls_xasprintf("%s: image", spec->path);
	rc = word(v, "base", where, reference, a_reference, &spec->image.base, err);
	if (!rc)
		rc = parse_digest(spec, v, where, err);
	if (!rc)
		rc = word(v, "tag", where, reference, a_reference, &spec->image.tag, err);
	if (!rc)
		rc = word(v, "watch", where, reference, a_reference, &spec->image.watch, err);
	if (!rc)
		rc = words(v, "apt", where, LETTERS DIGITS "+.-", &spec->image.apt, err);
	free(where);
	return rc;
}

/* " --hash=sha256:…" at p, or 0: how long it is. */
static size_t hash_length(const char *p)
{
	static const struct {
		const char *lead;
		size_t digits;
	} kinds[] = {{" --hash=sha256:", 64}, {" --hash=sha384:", 96}, {" --hash=sha512:", 128}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i].lead);
		if (ls_str_starts(p, kinds[i].lead) &&
		    strspn(p + n, DIGITS "abcdef") == kinds[i].digits)
			return n + kinds[i].digits;
	}
	return 0;
}

/* " @ https://host/path" at p, or 0: how long it is. Only what names its protocol: a path
 * of this machine is not there on another. */
static size_t reference_length(const char *p)
{
	static const char *const protocols[] = {"https://", "http://", "file:///", "git+https://",
						"git+ssh://"};
	for (size_t i = 0; ls_str_starts(p, " @ ") && i < sizeof protocols / sizeof *protocols; i++)
		if (ls_str_starts(p + 3, protocols[i]))
			return 3 + strspn(p + 3, LETTERS DIGITS "-._~:/?#@!&()+,=%");
	return 0;
}

/* A line for pip: a requirement, perhaps a direct reference, perhaps with hashes. */
static bool is_line(const char *line)
{
	static const char plain[] = LETTERS DIGITS ".-_+=<>!~[], ;'\"";
	size_t n;
	for (const char *p = line; *p; p += n) {
		n = *p == ' ' ? hash_length(p) : 0;
		if (!n && *p == ' ' && *line != '-')
			n = reference_length(p);
		if (!n)
			n = strchr(plain, *p) != NULL;
		if (!n)
			return false;
	}
	return true;
}

static int parse_lines(struct ls_spec *spec, const json_t *v, const char *where, struct ls_err *err)
{
	int rc = words(v, "lines", where, NULL, &spec->lines, err);
	for (char **p = spec->lines; !rc && p && *p; p++)
		if (!is_line(*p))
			rc = ls_err_set(err, LS_EINPUT,
					"%s: lines: \"%.80s\" is no requirement such as name>=1, "
					"name @ https://…, name==1 --hash=sha256:…",
					where, *p);
	return rc;
}

static int parse_requirements(struct ls_spec *spec, struct ls_err *err)
{
	static const char *const keys[] = {"index", "extra_index", "lines", NULL};
	static const char address[] = LETTERS DIGITS "./:_-~%+";
	const json_t *v;
	int rc = ls_spec_object(spec->json, "requirements", spec->path, keys, &v, err);
	if (rc || !v)
		return rc;
	char *where = ls_xasprintf("%s: requirements", spec->path);
	rc = word(v, "index", where, address, "an address", &spec->index, err);
	if (!rc)
		rc = word(v, "extra_index", where, address, "an address", &spec->extra_index, err);
	if (!rc)
		rc = parse_lines(spec, v, where, err);
	free(where);
	return rc;
}

static int parse_schedule(struct ls_spec *spec, const json_t *v, const char *where,
			  struct ls_err *err)
{
	int rc = ls_spec_text(v, "schedule", where, &spec->schedule, err);
	if (!rc && spec->schedule && !ls_calendar_is_cron(spec->schedule))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: schedule: \"%.80s\" is not a cron expression: minute 0-59, "
				"hour 0-23, day 1-31, month 1-12, weekday 0-7",
				where, spec->schedule);
	return rc;
}

static int parse_ci(struct ls_spec *spec, struct ls_err *err)
{
	static const char *const keys[] = {"runner", "schedule", NULL};
	const json_t *v;
	int rc = ls_spec_object(spec->json, "ci", spec->path, keys, &v, err);
	if (rc || !v)
		return rc;
	char *where = ls_xasprintf("%s: ci", spec->path);
	rc = words(v, "runner", where, LETTERS DIGITS "._-", &spec->runner, err);
	if (!rc)
		rc = parse_schedule(spec, v, where, err);
	free(where);
	return rc;
}

static int parse_captured(struct ls_spec *spec, struct ls_err *err)
{
	const json_t *v = json_object_get(spec->json, "captured");
	if (v && !json_is_boolean(v))
		return ls_err_set(err, LS_EINPUT, "%s: captured: expected true or false, found %s",
				  spec->path, ls_json_kind(v));
	spec->captured = v && json_is_true(v);
	return 0;
}

static int check_date(const struct ls_spec *spec, struct ls_err *err)
{
	if (!spec->date || ls_calendar_is_date(spec->date))
		return 0;
	return ls_err_set(err, LS_EINPUT, "%s: date: \"%.80s\" is not a day as YYYY-MM-DD",
			  spec->path, spec->date);
}

static int parse_head(struct ls_spec *spec, struct ls_err *err)
{
	int rc = word(spec->json, "name", spec->path, LETTERS DIGITS "._-",
		      "a name of letters, digits, . _ and -", &spec->name, err);
	if (!rc && !spec->name)
		rc = ls_err_set(err, LS_EINPUT, "%s: \"name\" is missing", spec->path);
	if (!rc && (!isalnum((unsigned char)*spec->name) || strlen(spec->name) > 199))
		rc = ls_err_set(
			err, LS_EINPUT,
			"%s: name: \"%.80s\" does not begin with a letter or a digit, or is "
			"longer than 199 bytes",
			spec->path, spec->name);
	if (!rc)
		rc = ls_spec_text(spec->json, "description", spec->path, &spec->description, err);
	if (!rc)
		rc = ls_spec_text(spec->json, "source", spec->path, &spec->source, err);
	if (!rc)
		rc = ls_spec_text(spec->json, "date", spec->path, &spec->date, err);
	if (!rc)
		rc = check_date(spec, err);
	if (!rc)
		rc = parse_captured(spec, err);
	return rc ? rc
		  : words(spec->json, "absent", spec->path, LETTERS DIGITS "._-", &spec->absent,
			  err);
}

int ls_spec_parse_fields(struct ls_spec *spec, struct ls_err *err)
{
	int rc = parse_head(spec, err);
	if (!rc)
		rc = parse_image(spec, err);
	if (!rc)
		rc = parse_requirements(spec, err);
	if (!rc)
		rc = parse_ci(spec, err);
	return rc;
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void ls_spec_free_fields(struct ls_spec *spec)
{
	char *const texts[] = {spec->name,        spec->description, spec->date,
			       spec->source,      spec->image.base,  spec->image.digest,
			       spec->image.tag,   spec->image.watch, spec->index,
			       spec->extra_index, spec->schedule};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	free_list(spec->absent);
	free_list(spec->image.apt);
	free_list(spec->lines);
	free_list(spec->runner);
}
