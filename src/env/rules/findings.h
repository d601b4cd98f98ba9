/* What is wrong with a machine, or right: facts held against a spec, against each other
 * and against what is known of the CUDA stack. A list owns its texts until
 * ls_findings_free (NULL is fine); facts and spec are borrowed for the call. One thread
 * at a time an object. */
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
/* The same, with found and source taken from a fact, which may be NULL when nothing
 * gathered it. */
void ls_findings_add_fact(struct ls_findings *list, const struct ls_finding *f,
			  const struct ls_fact *fact);
/* Adds a fault of outcome mismatch. */
void ls_findings_fault(struct ls_findings *list, enum ls_level level, const char *id,
		       const char *expected, const char *found, const char *source,
		       const char *advice);
/* Adds a fault of outcome unknown: something that could not be looked at. */
void ls_findings_blind(struct ls_findings *list, enum ls_level level, const char *id,
		       const char *expected, const char *found, const char *source,
		       const char *advice);
const struct ls_finding *ls_findings_find(const struct ls_findings *list, const char *id);

/* What GPUs mean to a spec and to --cuda. */
enum ls_gpu_need {
	LS_GPU_UNWANTED, /* the spec speaks of nothing that needs one: a service on the CPU */
	LS_GPU_OPTIONAL, /* no spec, or one that does not require a GPU or its driver */
	LS_GPU_REQUIRED
};
enum ls_gpu_need ls_findings_gpu_need(const struct ls_spec *spec, bool cuda);

/* Every check of the spec, matches included; then what must be absent. */
void ls_findings_compare(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec);
/* What --cuda requires even where the spec does not: a driver, a GPU, a torch built for
 * CUDA, a cuDNN. */
void ls_findings_demand_cuda(struct ls_findings *list, const struct ls_facts *facts,
			     const struct ls_spec *spec);
/* Faults of the machine. */
void ls_findings_faults(struct ls_findings *list, const struct ls_facts *facts,
			enum ls_gpu_need need);
/* What torch's metadata require against what is installed, and the libraries that an
 * import of torch would not find. */
void ls_findings_wheels(struct ls_findings *list, const struct ls_facts *facts);
/* What the files say against what a running Python says (facts gathered with deep). What
 * that Python was asked and did not answer is a required unknown. */
void ls_findings_deep(struct ls_findings *list, const struct ls_facts *facts);
/* Faults that only the compatibility tables know: driver too old for this CUDA, GPU not
 * in this torch build, end of life by the day today ("2026-11-15", more may follow). */
void ls_findings_compat(struct ls_findings *list, const struct ls_facts *facts, const char *today);

/* Over required findings: a mismatch anywhere, else an unknown anywhere, else match. */
enum ls_outcome ls_findings_verdict(const struct ls_findings *list);
const char *ls_outcome_name(enum ls_outcome outcome); /* "match", "mismatch", "unknown" */
/* List of {"id", "kind", "outcome", "level", "expected", "found", "source", "why",
 * "advice": [..]}; new reference. */
json_t *ls_findings_json(const struct ls_findings *list);

#endif
