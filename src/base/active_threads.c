#include "base/active_threads.h"

#include <assert.h>
#include <stdbool.h>

static const double STRETCH = 0.032, SHORT = 0.008; /* length of a stretch, seconds */
static const double ENOUGH = 0.75;                  /* of that length is enough to judge it */
/* The share of the threads' time that processors gave them: below it, some thread had to
 * wait for a core. */
static const double IDLE = 0.75;
/* What a trial must reach to be kept, relative to the speed before it. Fewer threads must
 * be worth it. More threads are kept unless they do harm, because the shares of the work
 * are not yet adjusted to them. */
static const double KEEP[LS_ACTIVE_WAYS] = {[LS_ACTIVE_FEWER] = 1.1, [LS_ACTIVE_MORE] = 0.97};

enum {
	FIRST = 16, /* units of the first stretch, when nothing is known of the speed */
	SOON = 4,   /* stretches until the threads that were sent away are tried again */
	CALM = 32,  /* stretches without waiting until the pauses are forgotten */
};
static const int LATE[LS_ACTIVE_WAYS] = {256, 64}; /* the most stretches between two trials */

void ls_active_init(struct ls_active_threads *c, int threads)
{
	*c = (struct ls_active_threads){.most = threads,
					.now = threads,
					.stay = threads,
					.size = {1, 1},
					.held = threads == 1};
}

void ls_active_hold(struct ls_active_threads *c, int threads)
{
	assert(threads >= 1 && threads <= c->most);
	*c = (struct ls_active_threads){
		.most = c->most, .now = threads, .stay = threads, .held = true};
}

void ls_active_drill(struct ls_active_threads *c)
{
	ls_active_hold(c, c->most);
	c->turn = 1;
}

static void next_turn(struct ls_active_threads *c)
{
	c->turn++;
	c->now = c->stay = 1 + (int)(c->turn * 7 % (uint32_t)c->most);
}

static double stretch(const struct ls_active_threads *c)
{
	return c->now > c->stay ? SHORT : STRETCH; /* with more threads it may be much slower */
}

uint64_t ls_active_units(const struct ls_active_threads *c)
{
	if (c->held)
		return c->turn ? 1 + c->turn % 5 : UINT64_MAX;
	double pace = c->seconds > 0.0 ? c->units / c->seconds : c->rate;
	double units = pace > 0.0 ? pace * (stretch(c) - c->seconds) : FIRST;
	return units < 1.0 ? 1 : units < 1e15 ? (uint64_t)units : (uint64_t)1e15;
}

static void put_to_work(struct ls_active_threads *c, int threads)
{
	c->settling = threads < c->now;
	c->now = threads;
}

static void wait_for(struct ls_active_threads *c, enum ls_active_trial way, int stretches)
{
	c->pause[way] = c->left[way] = stretches < LATE[way] ? stretches : LATE[way];
}

/* Fewer threads were better. Perhaps too many were sent away, so half of them are tried
 * at once. */
static void keep_fewer(struct ls_active_threads *c)
{
	int away = c->size[LS_ACTIVE_FEWER];
	wait_for(c, LS_ACTIVE_FEWER, 0);
	wait_for(c, LS_ACTIVE_MORE, away > 1 ? 0 : SOON);
	c->size[LS_ACTIVE_MORE] = away > 1 ? away / 2 : 1;
}

static void keep_more(struct ls_active_threads *c)
{
	wait_for(c, LS_ACTIVE_MORE, 0);
	c->size[LS_ACTIVE_MORE] *= 2;
}

/* Fewer threads were no better. Twice as many are sent away next, because one less does
 * not help when two cores are gone; when there are no more to send away, the pause
 * grows. */
static void give_up_fewer(struct ls_active_threads *c)
{
	int *size = &c->size[LS_ACTIVE_FEWER];
	*size = *size * 2 < c->stay ? *size * 2 : 1;
	if (*size == 1)
		wait_for(c, LS_ACTIVE_FEWER, 1 + 2 * c->pause[LS_ACTIVE_FEWER]);
}

/* More threads were worse. Half as many are added next, and after a trial of one the
 * pause grows. */
static void give_up_more(struct ls_active_threads *c)
{
	int *size = &c->size[LS_ACTIVE_MORE];
	if (*size == 1)
		wait_for(c, LS_ACTIVE_MORE, 1 + 2 * c->pause[LS_ACTIVE_MORE]);
	*size = *size > 1 ? *size / 2 : 1;
}

/* Ends a trial; false when it failed. */
static bool judge(struct ls_active_threads *c, enum ls_active_trial way, double rate)
{
	bool more = way == LS_ACTIVE_MORE, kept = rate >= c->rate * KEEP[way];
	if (kept) {
		c->stay = c->now;
		c->rate = rate;
		(more ? keep_more : keep_fewer)(c);
	} else {
		put_to_work(c, c->stay);
		(more ? give_up_more : give_up_fewer)(c);
	}
	return kept;
}

static void try(struct ls_active_threads *c, enum ls_active_trial way)
{
	int now = way == LS_ACTIVE_MORE ? c->stay + c->size[way] : c->stay - c->size[way];
	put_to_work(c, now < 1 ? 1 : now > c->most ? c->most : now);
}

/* What comes after a stretch with the number of threads that is to stay. Pauses are
 * forgotten after a while in which no thread waited. */
static void choose(struct ls_active_threads *c, bool idle)
{
	c->calm = idle ? 0 : c->calm + 1;
	if (c->calm >= CALM) {
		c->size[LS_ACTIVE_FEWER] = 1;
		wait_for(c, LS_ACTIVE_FEWER, 0);
	}
	if (idle && c->stay > 1 && c->left[LS_ACTIVE_FEWER]-- <= 0)
		try(c, LS_ACTIVE_FEWER);
	else if (c->stay < c->most && c->left[LS_ACTIVE_MORE]-- <= 0)
		try(c, LS_ACTIVE_MORE);
}

void ls_active_did(struct ls_active_threads *c, uint64_t units, double seconds, double cpu)
{
	if (c->held && c->turn)
		next_turn(c);
	if (c->held)
		return;
	c->units += (double)units;
	c->seconds += seconds;
	c->cpu += cpu;
	if (c->seconds < ENOUGH * stretch(c))
		return;
	double rate = c->units / c->seconds;
	bool idle = c->cpu < IDLE * c->seconds * c->now;
	c->units = c->seconds = c->cpu = 0.0;
	bool settling = c->settling;
	c->settling = false;
	if (settling)
		return;
	if (c->now == c->stay)
		c->rate = rate;
	else if (!judge(c, c->now < c->stay ? LS_ACTIVE_FEWER : LS_ACTIVE_MORE, rate))
		return;
	choose(c, idle);
}
