/* The functions of libhdf5 that reading needs, as versions 1.10 to 2 have them. Opened at
 * run time; the library stays loaded. One thread. */
#ifndef LS_TENSOR_HDF5_LIB_H
#define LS_TENSOR_HDF5_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { LS_H5_OBJECT_GROUP = 2, LS_H5_OBJECT_DATASET = 5 }; /* H5I_type_t */

enum ls_h5_class { /* H5T_class_t */
		   LS_H5_INTEGER,
		   LS_H5_FLOAT,
		   LS_H5_TIME,
		   LS_H5_STRING,
		   LS_H5_BITFIELD,
		   LS_H5_OPAQUE,
		   LS_H5_COMPOUND,
		   LS_H5_REFERENCE,
		   LS_H5_ENUM,
		   LS_H5_VLEN,
		   LS_H5_ARRAY
};

enum { LS_H5_SPACE_SCALAR, LS_H5_SPACE_SIMPLE, LS_H5_SPACE_NULL };      /* H5S_class_t */
enum { LS_H5_COMPACT, LS_H5_CONTIGUOUS, LS_H5_CHUNKED, LS_H5_VIRTUAL }; /* H5D_layout_t */
enum { LS_H5_LINK_HARD = 0, LS_H5_LINK_SOFT = 1, LS_H5_LINK_EXTERNAL = 64 };

struct ls_h5_link_info { /* H5L_info1_t */
	int type;
	bool has_order;
	int64_t order;
	int charset;
	uint64_t address_or_size;
};

struct ls_h5_object_info { /* the beginning of H5O_info1_t, and room for its rest */
	unsigned long file;
	uint64_t address;
	uint8_t rest[1024];
};

struct ls_h5 {
	int (*open)(void);
	int (*version)(unsigned *major, unsigned *minor, unsigned *release);
	int (*quiet)(int64_t stack, void *function, void *data);
	int (*plugins)(unsigned mask);
	int64_t (*file_open)(const char *path, unsigned flags, int64_t access);
	int64_t (*object_open)(int64_t at, const char *name, int64_t access);
	int (*object_close)(int64_t object);
	int (*object_info)(int64_t object, struct ls_h5_object_info *ret);
	int (*object_type)(int64_t object);
	int (*links)(int64_t group, int index, int order, uint64_t *at,
		     int (*each)(int64_t group, const char *name,
				 const struct ls_h5_link_info *link, void *ctx),
		     void *ctx);
	int (*link_value)(int64_t at, const char *name, void *buf, size_t size, int64_t access);
	int64_t (*dataset_type)(int64_t dataset);
	int64_t (*dataset_space)(int64_t dataset);
	int64_t (*dataset_plist)(int64_t dataset);
	uint64_t (*dataset_offset)(int64_t dataset);
	uint64_t (*dataset_stored)(int64_t dataset); /* bytes in the file */
	int (*dataset_read)(int64_t dataset, int64_t type, int64_t memory, int64_t file,
			    int64_t transfer, void *buf);
	int (*vlen_reclaim)(int64_t type, int64_t space, int64_t transfer, void *buf);
	int (*layout)(int64_t plist);
	int (*external_count)(int64_t plist);
	int (*chunk)(int64_t plist, int n, uint64_t *dims);
	int (*n_filters)(int64_t plist);
	int (*filter)(int64_t plist, unsigned i, unsigned *flags, size_t *n, unsigned *values,
		      size_t name_size, char *name, unsigned *config);
	int (*filter_there)(int filter);
	int (*plist_close)(int64_t plist);
	int (*attributes)(int64_t object, int index, int order, uint64_t *at,
			  int (*each)(int64_t object, const char *name, const void *info,
				      void *ctx),
			  void *ctx);
	int64_t (*attribute_open)(int64_t object, const char *name, int64_t access);
	int64_t (*attribute_type)(int64_t attribute);
	int64_t (*attribute_space)(int64_t attribute);
	int (*attribute_read)(int64_t attribute, int64_t type, void *buf);
	int (*attribute_close)(int64_t attribute);
	int (*space_kind)(int64_t space);
	int (*space_dims)(int64_t space, uint64_t *dims, uint64_t *most);
	int (*space_ndims)(int64_t space);
	int64_t (*space_make)(int n, const uint64_t *dims, const uint64_t *most);
	int (*space_select)(int64_t space, int how, const uint64_t *start, const uint64_t *stride,
			    const uint64_t *count, const uint64_t *block);
	int (*space_close)(int64_t space);
	int (*type_class)(int64_t type);
	size_t (*type_size)(int64_t type);
	int (*type_order)(int64_t type);
	int (*type_sign)(int64_t type);
	size_t (*type_precision)(int64_t type);
	int (*type_fields)(int64_t type, size_t *sign, size_t *exponent, size_t *exponent_size,
			   size_t *mantissa, size_t *mantissa_size);
	int (*type_is_variable)(int64_t type);
	int (*type_padding)(int64_t type);
	int64_t (*type_super)(int64_t type);
	int (*type_n_members)(int64_t type);
	char *(*type_member_name)(int64_t type, unsigned i);
	int64_t (*type_member)(int64_t type, unsigned i);
	size_t (*type_member_offset)(int64_t type, unsigned i);
	int (*type_close)(int64_t type);
	int (*free_memory)(void *p);
	ssize_t (*reference_name)(int64_t at, int kind, const void *reference, char *name,
				  size_t size);
};

/* LS_EUNKNOWN where the machine has no libhdf5; the message says which package has it. */
int ls_h5_load(struct ls_h5 *ret, struct ls_err *err);

#endif
