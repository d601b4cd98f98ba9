/* Other machines' monitors, asked over HTTP again and again, for one page that shows a few
 * machines. A thread a peer; which ones is said by whoever starts the monitor, never by a
 * client. The peers own their threads and answers; ls_peers_free ends them and accepts
 * NULL. Asking for the page may be in any thread. */
#ifndef LS_WATCH_PEERS_H
#define LS_WATCH_PEERS_H

#include "base/err.h"
#include "base/json.h"

enum { LS_PEERS = 64 };

struct ls_peers;

/* list: "gpu1:9495,gpu2:9495"; names are resolved once, here. token: sent to each, or
 * NULL; copied. LS_EINPUT names the one that is wrong. */
int ls_peers_new(const char *list, const char *token, struct ls_peers **ret, struct ls_err *err);
void ls_peers_free(struct ls_peers *p);
int ls_peers_start(struct ls_peers *p, struct ls_err *err);

/* {"peers": [{"address", "why", "health", "machine", "time", "driver", "gpus", "reasons"}]};
 * of one that does not answer why says so, and health is "unknown". p NULL: none. */
json_t *ls_peers_json(struct ls_peers *p);

/* What the page shows of an answer over HTTP. LS_EINPUT with the reason when it is none of
 * a monitor. A new reference. */
int ls_peer_read(const char *answer, size_t len, json_t **ret, struct ls_err *err);

#endif
