/* What is wrong with a machine, or right: facts held against a spec, against each other and against
 * what is known of the CUDA stack. A list owns its texts until ls_findings_free (NULL is fine);
 * facts and spec are borrowed for the call. One thread at a time an object. */
#ifndef LS_ENV_RULES_FINDINGS_H
#define LS_ENV_RULES_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "env/facts/facts.h"
#include "env/spec/spec.h"

enum ls_outcome { LS_OUTCOME_MATCH, LS_OUTCOME_MISMATCH, LS_OUTCOME_UNKNOWN };

struct ls_finding {
	const char *id; /* stable name: the fact's key for a check of the spec, otherwise the
			   fault's ("driver-mismatch") */
	bool fault;     /* seen on the machine itself, not asked by a spec */
	enum ls_outcome outcome;
	enum ls_level level;  /* required: decides the verdict */
	const char *expected; /* NULL: nothing in particular */
	const char *found;    /* value, or "absent: …", "unknown: …" */
	const char *source;   /* where found comes from */
	const char *why;      /* the spec author's reason, or NULL */
	const char
		*advice; /* what to do, steps in the order to try them, one a line; NULL: nothing */
};

struct ls_findings {
	struct ls_finding *items;
	size_t n, cap;
};

struct ls_findings *ls_findings_new(void);
void ls_findings_free(struct ls_findings *list);

/* Texts are copied; those in f may be NULL. */
void ls_findings_add(struct ls_findings *list, const struct ls_finding *f);
/* The same, with found and source taken from a fact (which may be NULL: nobody looked). */
void ls_findings_add_fact(struct ls_findings *list, const struct ls_finding *f,
			  const struct ls_fact *fact);
/* A fault that is there, a mismatch: the short way for most of them. */
void ls_findings_fault(struct ls_findings *list, enum ls_level level, const char *id,
		       const char *expected, const char *found, const char *source,
		       const char *advice);
const struct ls_finding *ls_findings_find(const struct ls_findings *list, const char *id);

/* Every check of the spec, matches included. */
void ls_findings_compare(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec);
/* What --cuda demands where the spec does not speak of it: a driver, a GPU, a torch with CUDA, a
 * cuDNN. */
void ls_findings_demand_cuda(struct ls_findings *list, const struct ls_facts *facts,
			     const struct ls_spec *spec);
/* Faults of the machine. need_gpu: one that is not seen matters. */
void ls_findings_faults(struct ls_findings *list, const struct ls_facts *facts, bool need_gpu);
/* What the files say against what a running Python says (facts gathered with deep). */
void ls_findings_deep(struct ls_findings *list, const struct ls_facts *facts);
/* Faults that only the compatibility tables know: driver too old for this CUDA, GPU not in this
 * torch build, end of life by the day today ("2026-11-15", more may follow). */
void ls_findings_compat(struct ls_findings *list, const struct ls_facts *facts, const char *today);

/* Over required findings: a mismatch anywhere, else an unknown anywhere, else match. */
enum ls_outcome ls_findings_verdict(const struct ls_findings *list);
const char *ls_outcome_name(enum ls_outcome outcome); /* "match", "mismatch", "unknown" */
/* List of {"id", "kind", "outcome", "level", "expected", "found", "source", "why", "advice": [..]};
 * new reference. */
json_t *ls_findings_json(const struct ls_findings *list);

#endif
