#include "fake_stream.h"

#include <stdlib.h>
#include <string.h>

/* --- streams: a queue of operations that runs when somebody must see its effects --- */

struct CUstream_st {
	struct op *first, *last;
	struct CUgraph_st *capture;
	struct CUstream_st *next;
};

struct CUevent_st {
	struct CUstream_st *pending; /* the record is still in this stream's queue */
	struct CUgraph_st *
		captured; /* the record is part of this graph: who waits for it joins the capture */
	unsigned stamp;
	size_t issued,
		passed; /* records: a wait is for the ones issued before it, not for later ones */
	int timed, recorded, asked;
};

struct CUgraph_st {
	struct op *first, *last;
};

struct CUgraphExec_st {
	struct op *first, *last;
};

static struct CUstream_st default_stream, *streams;

static struct CUstream_st *stream_of(ls_cu_stream s)
{
	return s ? s : &default_stream;
}

static void push(struct op **first, struct op **last, const struct op *from)
{
	struct op *o = malloc(sizeof *o);
	if (!o)
		abort();
	*o = *from;
	o->next = NULL;
	if (*last)
		(*last)->next = o;
	else
		*first = o;
	*last = o;
}

static void free_ops(struct op *o)
{
	while (o) {
		struct op *next = o->next;
		fake_args_drop(o->args);
		free(o);
		o = next;
	}
}

static void drain(struct CUstream_st *s, const struct CUevent_st *until);

static void run(const struct op *o)
{
	unsigned code = scripted("sync", ++operations);
	if (code)
		sticky = code;
	if (sticky)
		return;
	if (o->kind == OP_COPY)
		memcpy(o->to, o->from, o->size);
	else if (o->kind == OP_FILL)
		memset(o->to, o->byte, o->size);
	else if (o->kind == OP_LAUNCH)
		o->kernel(&o->launch, fake_args_list(o->args));
}

static void drain(struct CUstream_st *s, const struct CUevent_st *until)
{
	while (s->first) {
		struct op *o = s->first;
		if (o->kind == OP_WAIT && o->event && o->event->passed < o->size)
			drain(o->event->pending, o->event);
		s->first = o->next;
		if (!s->first)
			s->last = NULL;
		o->next = NULL;
		run(o);
		int done = o->kind == OP_RECORD && o->event == until;
		if (o->kind == OP_RECORD && o->event) {
			o->event->passed++;
			o->event->pending = NULL;
			o->event->stamp = operations;
		}
		free_ops(o);
		if (done)
			return;
	}
}

void drain_all(void)
{
	drain(&default_stream, NULL);
	for (struct CUstream_st *s = streams; s; s = s->next)
		drain(s, NULL);
}

unsigned submit(ls_cu_stream handle, const struct op *o)
{
	struct CUstream_st *s = stream_of(handle);
	if (s->capture) {
		push(&s->capture->first, &s->capture->last, o);
		return 0;
	}
	push(&s->first, &s->last, o);
	if (!config.lazy)
		drain(s, NULL);
	return sticky;
}

/* --- streams and events --- */

unsigned cuStreamCreate(ls_cu_stream *ret, unsigned flags)
{
	ENTER(cuStreamCreate);
	struct CUstream_st *s = flags <= 1 ? calloc(1, sizeof *s) : NULL;
	if (!s)
		return LS_CU_INVALID_VALUE;
	s->next = streams;
	streams = s;
	add_object("stream", s, 0);
	*ret = s;
	return 0;
}

unsigned cuStreamDestroy_v2(ls_cu_stream s)
{
	unsigned fault = scripted("cuStreamDestroy_v2", count_call("cuStreamDestroy_v2"));
	if (!drop_object("stream", s))
		return LS_CU_INVALID_HANDLE;
	drain(s, NULL);
	for (struct CUstream_st **at = &streams; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	free(s);
	return fault ? fault : sticky;
}

unsigned cuStreamSynchronize(ls_cu_stream s)
{
	ENTER(cuStreamSynchronize);
	if (stream_of(s)->capture)
		return LS_CU_STREAM_CAPTURE_INVALIDATED;
	drain(stream_of(s), NULL);
	return sticky;
}

unsigned cuStreamWaitEvent(ls_cu_stream s, ls_cu_event e, unsigned flags)
{
	ENTER(cuStreamWaitEvent);
	if (!find_object("event", e) || flags)
		return LS_CU_INVALID_HANDLE;
	if (e->captured) { /* the list of a graph is in the order of submission, which satisfies
			      every wait */
		if (stream_of(s)->capture && stream_of(s)->capture != e->captured)
			return LS_CU_STREAM_CAPTURE_INVALIDATED;
		stream_of(s)->capture = e->captured;
		return 0;
	}
	if (stream_of(s)->capture)
		return LS_CU_STREAM_CAPTURE_INVALIDATED; /* a graph cannot wait for what is outside
							    it */
	return e->recorded ? submit(s, &(struct op){.kind = OP_WAIT, .event = e, .size = e->issued})
			   : 0;
}

unsigned cuEventCreate(ls_cu_event *ret, unsigned flags)
{
	ENTER(cuEventCreate);
	struct CUevent_st *e = calloc(1, sizeof *e);
	if (!e)
		return LS_CU_OUT_OF_MEMORY;
	e->timed = !(flags & LS_CU_EVENT_DISABLE_TIMING);
	add_object("event", e, 0);
	*ret = e;
	return 0;
}

unsigned cuEventDestroy_v2(ls_cu_event e)
{
	unsigned fault = scripted("cuEventDestroy_v2", count_call("cuEventDestroy_v2"));
	drain_all(); /* an operation in a queue may still name it */
	if (!drop_object("event", e))
		return LS_CU_INVALID_HANDLE;
	free(e);
	return fault ? fault : sticky;
}

unsigned cuEventRecord(ls_cu_event e, ls_cu_stream s)
{
	ENTER(cuEventRecord);
	if (!find_object("event", e))
		return LS_CU_INVALID_HANDLE;
	if (e->pending)
		drain(e->pending, e);
	e->asked = 0;
	e->captured = stream_of(s)->capture;
	if (e->captured)
		return 0;
	e->recorded = 1;
	e->issued++;
	e->pending = stream_of(s);
	return submit(s, &(struct op){.kind = OP_RECORD, .event = e});
}

unsigned cuEventQuery(ls_cu_event e)
{
	ENTER(cuEventQuery);
	if (!find_object("event", e))
		return LS_CU_INVALID_HANDLE;
	if (!e->pending)
		return 0;
	if (e->asked++ == 0) /* not at the first time of asking, so that both answers are met */
		return LS_CU_NOT_READY;
	drain(e->pending, e);
	return sticky;
}

unsigned cuEventSynchronize(ls_cu_event e)
{
	ENTER(cuEventSynchronize);
	if (!find_object("event", e))
		return LS_CU_INVALID_HANDLE;
	if (e->pending)
		drain(e->pending, e);
	return sticky;
}

unsigned cuEventElapsedTime(float *ms, ls_cu_event from, ls_cu_event to)
{
	ENTER(cuEventElapsedTime);
	if (!find_object("event", from) || !find_object("event", to) || !from->timed || !to->timed)
		return LS_CU_INVALID_HANDLE;
	if (from->pending || to->pending)
		return LS_CU_NOT_READY;
	*ms = 0.5f * (float)(to->stamp - from->stamp);
	return 0;
}

/* --- graphs --- */

unsigned cuStreamBeginCapture_v2(ls_cu_stream s, unsigned mode)
{
	ENTER(cuStreamBeginCapture_v2);
	if (!s || s->capture || mode > 2)
		return LS_CU_INVALID_VALUE;
	s->capture = calloc(1, sizeof *s->capture);
	if (!s->capture)
		return LS_CU_OUT_OF_MEMORY;
	add_object("graph", s->capture, 0);
	return 0;
}

unsigned cuStreamEndCapture(ls_cu_stream s, ls_cu_graph *graph)
{
	unsigned fault = scripted("cuStreamEndCapture", count_call("cuStreamEndCapture"));
	if (!s || !s->capture)
		return LS_CU_INVALID_VALUE;
	ls_cu_graph captured = s->capture;
	for (struct CUstream_st *joined = streams; joined; joined = joined->next)
		if (joined->capture == captured)
			joined->capture = NULL;
	if (fault || sticky) { /* the capture has ended all the same */
		drop_object("graph", captured);
		free_ops(captured->first);
		free(captured);
		return fault ? fault : sticky;
	}
	*graph = captured;
	return 0;
}

unsigned cuGraphInstantiateWithFlags(ls_cu_graph_exec *ret, ls_cu_graph graph,
				     unsigned long long flags)
{
	ENTER(cuGraphInstantiateWithFlags);
	struct CUgraphExec_st *g = flags ? NULL : calloc(1, sizeof *g);
	if (!g)
		return LS_CU_INVALID_VALUE;
	for (struct op *o = graph->first; o; o = o->next) {
		fake_args_share(o->args);
		push(&g->first, &g->last, o);
	}
	add_object("executable graph", g, 0);
	*ret = g;
	return 0;
}

unsigned cuGraphLaunch(ls_cu_graph_exec g, ls_cu_stream s)
{
	ENTER(cuGraphLaunch);
	if (!find_object("executable graph", g))
		return LS_CU_INVALID_HANDLE;
	for (struct op *o = g->first; o; o = o->next) {
		fake_args_share(o->args);
		submit(s, o);
	}
	return sticky;
}

unsigned cuGraphDestroy(ls_cu_graph g)
{
	unsigned fault = scripted("cuGraphDestroy", count_call("cuGraphDestroy"));
	if (!drop_object("graph", g))
		return LS_CU_INVALID_HANDLE;
	free_ops(g->first);
	free(g);
	return fault;
}

unsigned cuGraphExecDestroy(ls_cu_graph_exec g)
{
	unsigned fault = scripted("cuGraphExecDestroy", count_call("cuGraphExecDestroy"));
	if (!drop_object("executable graph", g))
		return LS_CU_INVALID_HANDLE;
	free_ops(g->first);
	free(g);
	return fault;
}
