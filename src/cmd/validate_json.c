/* The report of `lockstep validate` as JSON: docs/FORMATS.md, "Validation report". */
#include "cmd/validate.h"

static json_t *text_or_null(const char *s)
{
	return s && *s ? ls_json_lossy(s) : json_null();
}

static json_t *checks_json(const struct ls_validate_report *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->val->n_checks; i++) {
		const struct ls_val_check *c = &r->val->checks[i];
		json_t *o = json_object();
		json_object_set_new(o, "check", json_string(ls_val_part_name(c->part)));
		json_object_set_new(o, "cell", json_string(c->cell));
		json_object_set_new(o, "on", json_string(r->ways->ways[c->way].name));
		json_object_set_new(o, "state", json_string(ls_val_state_name(c->state)));
		json_object_set_new(o, "expected", text_or_null(c->expected));
		json_object_set_new(o, "got", text_or_null(c->got));
		json_object_set_new(o, "reason", text_or_null(c->reason));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *checklist_json(const struct ls_validate_report *r)
{
	struct ls_validate_item items[LS_VALIDATE_ITEMS];
	json_t *list = json_array();
	ls_validate_checklist(r, items);
	for (int i = 0; i < LS_VALIDATE_ITEMS; i++)
		json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "item", items[i].title,
						      "state", ls_val_state_name(items[i].state),
						      "detail", ls_json_lossy(items[i].detail)));
	return list;
}

static json_t *ways_json(const struct ls_validate_report *r)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->ways->n; i++)
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:b}", "name", r->ways->ways[i].name,
						"device", r->ways->ways[i].gpu ? "cuda" : "cpu",
						"reference", i == 0));
	return list;
}

json_t *ls_validate_json(const struct ls_validate_report *r)
{
	json_t *o = json_object();
	json_object_set_new(o, "format", json_string("lockstep-validate"));
	json_object_set_new(o, "version", json_integer(2));
	json_object_set_new(o, "lockstep", json_string(LS_VERSION));
	json_object_set_new(o, "commit", text_or_null(ls_facts_value(r->facts, "commit")));
	json_object_set_new(o, "created", json_string(r->created));
	json_object_set_new(o, "mode", json_string(r->full ? "full" : "quick"));
	json_object_set_new(o, "devices", json_string(r->ways->want_cuda ? "cpu, cuda" : "cpu"));
	json_object_set_new(o, "has_cuda", json_boolean(r->ways->devices > 0));
	json_object_set_new(o, "verdict", json_string(ls_validate_verdict(r)));
	json_object_set_new(o, "exit", json_integer(ls_validate_status(r)));
	json_object_set_new(o, "seconds", json_real(r->val->seconds));
	json_object_set_new(o, "checklist", checklist_json(r));
	json_object_set_new(o, "facts", ls_validate_facts_json(r));
	json_object_set_new(o, "ways", ways_json(r));
	json_object_set_new(o, "checks", checks_json(r));
	return o;
}
