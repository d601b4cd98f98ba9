/* Finds the position of a text among the keys of an array: a hash table beside it. The
 * array stays the caller's, who names the key of an element by a function. A map of zeros
 * is empty; ls_keymap_done frees. One thread at a time an object. */
#ifndef LS_BASE_KEYMAP_H
#define LS_BASE_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

struct ls_keymap {
	size_t *slots; /* position + 1; 0: free */
	size_t n_slots, n;
};

typedef const char *(*ls_key_at)(const void *items, size_t i);

/* The first position that was added with this key, or SIZE_MAX. */
size_t ls_keymap_find(const struct ls_keymap *map, const void *items, ls_key_at key_at,
		      const char *key);
/* Element i is now in the array. Of equal keys the one added first is found. */
void ls_keymap_add(struct ls_keymap *map, const void *items, ls_key_at key_at, size_t i);
void ls_keymap_done(struct ls_keymap *map);

#endif
