#include "tensor/hdf5_lib.h"

#include "base/dl.h"

/* Debian's and Ubuntu's names first, then those of other systems. */
static const char *const names[] = {"libhdf5_serial.so.103",
				    "libhdf5_serial.so.310",
				    "libhdf5_serial.so.200",
				    "libhdf5.so.103",
				    "libhdf5.so.200",
				    "libhdf5.so.310",
				    "libhdf5_serial.so",
				    "libhdf5.so",
				    NULL};

#define NEED(member, ...) LS_DL_NEED(struct ls_h5, member, __VA_ARGS__)
#define MAY(member, ...)  LS_DL_MAY(struct ls_h5, member, __VA_ARGS__)

static const struct ls_dl_sym symbols[] = {
	NEED(open, "H5open"),
	NEED(version, "H5get_libversion"),
	NEED(quiet, "H5Eset_auto2"),
	NEED(plugins, "H5PLset_loading_state"),
	NEED(file_open, "H5Fopen"),
	NEED(object_open, "H5Oopen"),
	NEED(object_close, "H5Oclose"),
	NEED(object_info, "H5Oget_info1", "H5Oget_info"),
	NEED(object_type, "H5Iget_type"),
	NEED(links, "H5Literate1", "H5Literate"),
	NEED(link_value, "H5Lget_val"),
	NEED(dataset_type, "H5Dget_type"),
	NEED(dataset_space, "H5Dget_space"),
	NEED(dataset_plist, "H5Dget_create_plist"),
	NEED(dataset_offset, "H5Dget_offset"),
	NEED(dataset_stored, "H5Dget_storage_size"),
	NEED(dataset_read, "H5Dread"),
	NEED(vlen_reclaim, "H5Dvlen_reclaim", "H5Treclaim"),
	NEED(layout, "H5Pget_layout"),
	NEED(external_count, "H5Pget_external_count"),
	NEED(chunk, "H5Pget_chunk"),
	NEED(n_filters, "H5Pget_nfilters"),
	NEED(filter, "H5Pget_filter2"),
	NEED(filter_there, "H5Zfilter_avail"),
	NEED(plist_close, "H5Pclose"),
	NEED(attributes, "H5Aiterate2"),
	NEED(attribute_open, "H5Aopen"),
	NEED(attribute_type, "H5Aget_type"),
	NEED(attribute_space, "H5Aget_space"),
	NEED(attribute_read, "H5Aread"),
	NEED(attribute_close, "H5Aclose"),
	NEED(space_kind, "H5Sget_simple_extent_type"),
	NEED(space_dims, "H5Sget_simple_extent_dims"),
	NEED(space_ndims, "H5Sget_simple_extent_ndims"),
	NEED(space_make, "H5Screate_simple"),
	NEED(space_select, "H5Sselect_hyperslab"),
	NEED(space_close, "H5Sclose"),
	NEED(type_class, "H5Tget_class"),
	NEED(type_size, "H5Tget_size"),
	NEED(type_order, "H5Tget_order"),
	NEED(type_sign, "H5Tget_sign"),
	NEED(type_precision, "H5Tget_precision"),
	NEED(type_fields, "H5Tget_fields"),
	NEED(type_is_variable, "H5Tis_variable_str"),
	NEED(type_padding, "H5Tget_strpad"),
	NEED(type_super, "H5Tget_super"),
	NEED(type_n_members, "H5Tget_nmembers"),
	NEED(type_member_name, "H5Tget_member_name"),
	NEED(type_member, "H5Tget_member_type"),
	NEED(type_member_offset, "H5Tget_member_offset"),
	NEED(type_close, "H5Tclose"),
	NEED(free_memory, "H5free_memory"),
	MAY(reference_name, "H5Rget_name"),
	LS_DL_END,
};

int ls_h5_load(struct ls_h5 *ret, struct ls_err *err)
{
	struct ls_err why = {0};
	struct ls_dl *lib = NULL;
	int rc = ls_dl_open(names, symbols, ret, &lib, &why);
	if (rc)
		return ls_err_set(err, rc,
				  "HDF5 files are read through libhdf5, which this machine does "
				  "not have (Debian: apt install libhdf5-103-1): %.300s",
				  why.msg);
	ls_dl_keep(lib);
	return 0;
}
