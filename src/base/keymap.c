#include "base/keymap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *key)
{
	uint64_t h = 14695981039346656037u;
	for (const unsigned char *p = (const unsigned char *)key; *p; p++)
		h = (h ^ *p) * 1099511628211u;
	return h ^ (h >> 32);
}

size_t ls_keymap_find(const struct ls_keymap *map, const void *items, ls_key_at key_at,
		      const char *key)
{
	if (!map->n_slots)
		return SIZE_MAX;
	for (size_t s = hash(key) & (map->n_slots - 1); map->slots[s];
	     s = (s + 1) & (map->n_slots - 1))
		if (strcmp(key_at(items, map->slots[s] - 1), key) == 0)
			return map->slots[s] - 1;
	return SIZE_MAX;
}

static void put(struct ls_keymap *map, const char *key, size_t i)
{
	size_t s = hash(key) & (map->n_slots - 1);
	while (map->slots[s])
		s = (s + 1) & (map->n_slots - 1);
	map->slots[s] = i + 1;
}

/* Twice as many slots, half of them free at the most crowded. */
static void grow(struct ls_keymap *map, const void *items, ls_key_at key_at)
{
	struct ls_keymap old = *map;
	map->n_slots = old.n_slots ? old.n_slots * 2 : 64;
	map->slots = ls_xalloc(map->n_slots * sizeof *map->slots);
	for (size_t s = 0; s < old.n_slots; s++)
		if (old.slots[s])
			put(map, key_at(items, old.slots[s] - 1), old.slots[s] - 1);
	free(old.slots);
}

void ls_keymap_add(struct ls_keymap *map, const void *items, ls_key_at key_at, size_t i)
{
	const char *key = key_at(items, i);
	if (ls_keymap_find(map, items, key_at, key) != SIZE_MAX)
		return;
	if (2 * (map->n + 1) > map->n_slots)
		grow(map, items, key_at);
	put(map, key, i);
	map->n++;
}

void ls_keymap_done(struct ls_keymap *map)
{
	free(map->slots);
	*map = (struct ls_keymap){0};
}
