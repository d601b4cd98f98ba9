/* liblockstep_inject.so: CUDA loads it into the traced program (CUDA_INJECTION64_PATH)
 * and it logs every kernel launch.
 *
 * It is a guest: it never ends, slows or changes the program. When something is missing
 * it leaves a note in the log and stays quiet. The log is a mapped file, so that even a
 * killed program leaves all it launched. One lock orders launches of several threads.
 * Nothing but libc is needed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cupti.h"
#include "run/ktrace_format.h"

enum { WINDOW = 1 << 20, MAX_STREAMS = 4096, RECENT = 1024 };

static struct {
	pthread_mutex_t lock;
	int fd;
	uint8_t *map; /* WINDOW bytes of the file from start on; NULL: closed */
	uint64_t start, at;
	uint64_t launches, digest;
	struct name {
		uint64_t hash;
		char *text;
		uint32_t id;
	} * names;
	size_t n_names, cap_names; /* cap is a power of two */
	struct {
		const char *symbol, *text; /* as the caller and as the table have it */
		uint64_t hash;
		uint32_t id;
	} recent[RECENT]; /* names are hundreds of characters long: by their address first */
	void *streams[MAX_STREAMS];
	size_t n_streams;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

int InitializeInjection(void);
uint64_t ls_inject_digest(const void *data, size_t len);

/* --- the log --- */

static bool next_window(void)
{
	if (trace.map) {
		munmap(trace.map, WINDOW);
		trace.start += WINDOW;
	}
	trace.at = 0;
	trace.map = NULL;
	if (ftruncate(trace.fd, (off_t)(trace.start + WINDOW)) < 0)
		return false; /* a full disk: the log ends here, the program goes on */
	void *p = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, trace.fd,
		       (off_t)trace.start);
	trace.map = p == MAP_FAILED ? NULL : p;
	/* reserve the blocks now: a store into a hole on a full disk would be a SIGBUS in
	 * the host program */
	if (trace.map && posix_fallocate(trace.fd, (off_t)trace.start, WINDOW) != 0) {
		munmap(trace.map, WINDOW);
		trace.map = NULL;
	}
	return trace.map != NULL;
}

static void put(uint8_t byte)
{
	if (trace.map && trace.at == WINDOW && !next_window())
		return;
	if (trace.map)
		trace.map[trace.at++] = byte;
}

static void put_number(uint64_t v)
{
	for (; v >= 128; v >>= 7)
		put((uint8_t)(v | 128));
	put((uint8_t)v);
}

static void put_text(enum ls_ktrace_tag tag, const char *text)
{
	size_t n = strnlen(text, 1 << 16);
	put((uint8_t)tag);
	put_number(n);
	for (size_t i = 0; i < n; i++)
		put((uint8_t)text[i]);
}

static void put_check(void)
{
	put(LS_KT_CHECK);
	put_number(trace.launches);
	for (int i = 0; i < 8; i++)
		put((uint8_t)(trace.digest >> (8 * i)));
}

static bool open_log(void)
{
	const char *dir = getenv("LOCKSTEP_TRACE_DIR");
	char host[128] = "", path[4096];
	struct timespec ts;
	if (!dir)
		return false;
	gethostname(host, sizeof host - 1);
	clock_gettime(CLOCK_REALTIME, &ts);
	snprintf(path, sizeof path, "%s/%s-%d-%lld%09ld.kernels", dir, host, (int)getpid(),
		 (long long)ts.tv_sec, ts.tv_nsec);
	trace.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (trace.fd < 0 || !next_window())
		return false;
	for (const char *p = LS_KTRACE_MAGIC; *p; p++)
		put((uint8_t)*p);
	return true;
}

/* The log is the parent's: a child that wrote into it, or cut it at its own end, would
 * damage it or kill the parent. */
static void leave_to_parent(void)
{
	if (trace.map)
		munmap(trace.map, WINDOW);
	if (trace.fd >= 0)
		close(trace.fd);
	trace.map = NULL;
	trace.fd = -1;
}

/* After an orderly end the file has its true length; after a kill it ends in zeros, which
 * the reader knows. */
__attribute__((destructor)) static void close_log(void)
{
	pthread_mutex_lock(&trace.lock);
	if (trace.map) {
		put_check();
		uint64_t size = trace.start + trace.at;
		munmap(trace.map, WINDOW);
		trace.map = NULL;
		if (ftruncate(trace.fd, (off_t)size) == 0)
			close(trace.fd);
	}
	pthread_mutex_unlock(&trace.lock);
}

/* --- names and streams --- */

static struct name *slot(struct name *table, size_t cap, uint64_t hash, const char *text)
{
	size_t i = hash & (cap - 1);
	while (table[i].text && (table[i].hash != hash || strcmp(table[i].text, text) != 0))
		i = (i + 1) & (cap - 1);
	return &table[i];
}

static bool grow_names(void)
{
	size_t cap = trace.cap_names ? trace.cap_names * 2 : 256;
	struct name *bigger = calloc(cap, sizeof *bigger);
	if (!bigger)
		return false;
	for (size_t i = 0; i < trace.cap_names; i++)
		if (trace.names[i].text)
			*slot(bigger, cap, trace.names[i].hash, trace.names[i].text) =
				trace.names[i];
	free(trace.names);
	trace.names = bigger;
	trace.cap_names = cap;
	return true;
}

static bool name_id(const char *text, uint64_t hash, uint32_t *ret, const char **ret_text)
{
	if (trace.n_names * 2 >= trace.cap_names && !grow_names())
		return false;
	struct name *s = slot(trace.names, trace.cap_names, hash, text);
	if (!s->text) {
		char *copy = strdup(text);
		if (!copy)
			return false;
		*s = (struct name){hash, copy, (uint32_t)trace.n_names++};
		put_text(LS_KT_NAME, text);
	}
	*ret = s->id;
	*ret_text = s->text;
	return true;
}

/* The same address has the same name but for a module that was unloaded, so it is
 * compared and not hashed again. */
static bool recent_id(const char *text, uint64_t *ret_hash, uint32_t *ret)
{
	size_t i = ((uintptr_t)text >> 4 ^ (uintptr_t)text >> 14) % RECENT;
	if (trace.recent[i].symbol != text || strcmp(trace.recent[i].text, text) != 0) {
		trace.recent[i].hash = ls_ktrace_hash(text);
		trace.recent[i].symbol = NULL;
		if (!name_id(text, trace.recent[i].hash, &trace.recent[i].id,
			     &trace.recent[i].text))
			return false;
		trace.recent[i].symbol = text;
	}
	*ret_hash = trace.recent[i].hash;
	*ret = trace.recent[i].id;
	return true;
}

/* Addresses differ from run to run, the order of first use does not. */
static uint64_t stream_id(void *stream)
{
	for (size_t i = 0; i < trace.n_streams; i++)
		if (trace.streams[i] == stream)
			return i;
	if (trace.n_streams == MAX_STREAMS)
		return MAX_STREAMS;
	trace.streams[trace.n_streams] = stream;
	return trace.n_streams++;
}

static void log_launch(const char *text, const unsigned grid[3], const unsigned block[3],
		       unsigned shared, void *stream)
{
	uint32_t id;
	uint64_t hash;
	pthread_mutex_lock(&trace.lock);
	if (trace.map && recent_id(text, &hash, &id)) {
		uint64_t numbers[LS_KT_FIELDS] = {grid[0],  grid[1],  grid[2], block[0],
						  block[1], block[2], shared,  stream_id(stream)};
		trace.digest = ls_ktrace_roll(trace.digest, hash);
		put(LS_KT_LAUNCH);
		put_number(id);
		for (int i = 0; i < LS_KT_FIELDS; i++) {
			trace.digest = ls_ktrace_roll(trace.digest, numbers[i]);
			put_number(numbers[i]);
		}
		if (++trace.launches % LS_KT_CHECK_EVERY == 0)
			put_check();
	}
	pthread_mutex_unlock(&trace.lock);
}

/* --- CUPTI --- */

static void on_call(void *user, int domain, uint32_t call, const void *data)
{
	const struct cupti_call *c = data;
	(void)user;
	if (domain != CUPTI_DRIVER_API || c->site != CUPTI_ENTER || !c->params)
		return;
	const char *text = c->symbol ? c->symbol : "(unnamed)";
	if (call == CALL_LAUNCH_KERNEL_EX || call == CALL_LAUNCH_KERNEL_EX_PTSZ) {
		const struct cupti_launch_config *l =
			((const struct cupti_launch_ex *)c->params)->config;
		log_launch(text, l->grid, l->block, l->shared, l->stream);
	} else if (call == CALL_GRAPH_LAUNCH || call == CALL_GRAPH_LAUNCH_PTSZ) {
		const unsigned none[3] = {0};
		log_launch("(graph)", none, none, 0,
			   ((const struct cupti_graph_launch *)c->params)->stream);
	} else {
		const struct cupti_launch *l = c->params;
		log_launch(text, l->grid, l->block, l->shared, l->stream);
	}
}

static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
				      "libcupti.so.11.7", "libcupti.so"};
enum { N_SONAMES = sizeof sonames / sizeof *sonames };

/* Wheels keep CUPTI beside the runtime (nvidia/cu13/lib) or in a folder of its own
 * (nvidia/cuda_cupti/lib). */
static int beside_runtime(struct dl_phdr_info *info, size_t size, void *ret)
{
	static const char *const places[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/"};
	(void)size;
	const char *slash = strrchr(info->dlpi_name, '/');
	if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0)
		return 0;
	for (size_t p = 0; p < sizeof places / sizeof *places; p++)
		for (int i = 0; i < N_SONAMES; i++) {
			char path[4096];
			snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - info->dlpi_name),
				 info->dlpi_name, places[p], sonames[i]);
			void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (lib) {
				*(void **)ret = lib;
				return 1;
			}
		}
	return 0;
}

static void *find_cupti(void)
{
	const char *given = getenv("LOCKSTEP_CUPTI");
	if (given)
		return dlopen(given, RTLD_NOW | RTLD_LOCAL);
	void *lib = NULL;
	for (int i = 0; i < N_SONAMES && !lib; i++)
		lib = dlopen(sonames[i], RTLD_NOW | RTLD_NOLOAD);
	if (!lib)
		dl_iterate_phdr(beside_runtime, &lib);
	for (int i = 0; i < N_SONAMES && !lib; i++)
		lib = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
	static const char *const places[] = {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
					     "/usr/local/cuda/lib64/libcupti.so",
					     "/usr/local/cuda/lib/libcupti.so"};
	for (size_t i = 0; i < sizeof places / sizeof *places && !lib; i++)
		lib = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
	return lib;
}

/* dlsym hands out functions as data pointers; POSIX has them of one size. */
static bool symbol(void *lib, const char *name, void *ret)
{
	void *p = dlsym(lib, name);
	if (p)
		memcpy(ret, &p, sizeof p);
	return p != NULL;
}

static const char *subscribe(void)
{
	static const uint32_t calls[] = {CALL_LAUNCH_KERNEL,      CALL_LAUNCH_KERNEL_PTSZ,
					 CALL_LAUNCH_COOPERATIVE, CALL_LAUNCH_COOPERATIVE_PTSZ,
					 CALL_LAUNCH_KERNEL_EX,   CALL_LAUNCH_KERNEL_EX_PTSZ,
					 CALL_GRAPH_LAUNCH,       CALL_GRAPH_LAUNCH_PTSZ};
	void *lib = find_cupti(), *subscriber;
	struct cupti c = {0};
	if (!lib)
		return "libcupti was not found; it comes with the CUDA toolkit or the wheel "
		       "nvidia-cuda-cupti";
	if (!symbol(lib, "cuptiSubscribe", &c.subscribe) ||
	    !symbol(lib, "cuptiEnableCallback", &c.enable))
		return "libcupti lacks the callback interface";
	if (c.subscribe(&subscriber, on_call, NULL) != CUPTI_OK)
		return "CUPTI refused a subscriber: a profiler or debugger has it already";
	int on = 0;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		on += c.enable(1, subscriber, CUPTI_DRIVER_API, calls[i]) == CUPTI_OK;
	return on ? NULL : "CUPTI refused every launch callback";
}

/* Called by CUDA at its initialisation. Always reports success: a tracer must not fail
 * the program.
 */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static bool done;
	if (done)
		return 1;
	done = true;
	if (!open_log() || pthread_atfork(NULL, NULL, leave_to_parent) != 0)
		return 1;
	const char *why = subscribe();
	if (why) {
		pthread_mutex_lock(&trace.lock);
		put_text(LS_KT_NOTE, why);
		pthread_mutex_unlock(&trace.lock);
	}
	return 1;
}

/* For --trace ops, which calls it from Python: XXH3 of a tensor's memory, at the speed
 * that memory is read. */
__attribute__((visibility("default"))) uint64_t ls_inject_digest(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}
