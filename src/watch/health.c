#include "watch/health.h"

const char *ls_health_name(enum ls_health h)
{
	switch (h) {
	case LS_HEALTH_OK:
		return "ok";
	case LS_HEALTH_WARN:
		return "warn";
	case LS_HEALTH_CRITICAL:
		return "critical";
	case LS_HEALTH_UNKNOWN:
		return "unknown";
	default:
		return "not judged";
	}
}
