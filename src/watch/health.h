/* How good something is, and its names. Nothing is owned; any thread. */
#ifndef LS_WATCH_HEALTH_H
#define LS_WATCH_HEALTH_H

enum ls_health {
	LS_HEALTH_OK,
	LS_HEALTH_WARN,
	LS_HEALTH_CRITICAL,
	LS_HEALTH_UNKNOWN,    /* it should be known, and nobody could be asked */
	LS_HEALTH_NOT_JUDGED, /* this GPU does not have it, or it takes time to judge */
};

const char *ls_health_name(enum ls_health h); /* "ok", "warn", …; static */

#endif
