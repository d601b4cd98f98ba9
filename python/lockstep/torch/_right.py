"""aten's operations that keep torch's own kernels, each group with the reason why its bits
are the same on every device.

A name stands for its in-place form and all overloads, those with `out` too, except where
an overload is given; those that an exact kernel replaces are looked up first.
"""

# evidence: (why, names)
GROUPS = {
    "moves values": ("copies, selects or writes values, and computes none", """
        _chunk_cat _efficientzerotensor _jagged_to_padded_dense_forward _local_scalar_dense _nested_from_padded
        _nested_view_from_buffer _padded_dense_to_jagged_forward _reshape_alias _stack as_strided cat channel_shuffle
        complex conj_physical embedding empty empty_strided equal eye fill flip from_file gather index index_copy
        index_fill index_select is_set_to lift_fresh masked_fill masked_scatter masked_select narrow_copy
        native_channel_shuffle nonzero nonzero_static pixel_shuffle pixel_unshuffle put record_stream repeat_interleave
        resize roll set split_with_sizes_copy take tril tril_indices triu triu_indices unfold view view_as_complex
        view_as_real where zero _foreach_copy _foreach_zero _empty_affine_quantized scatter.value scatter_.value
        scatter.value_out im2col _cudnn_init_dropout_state _make_dep_token
        reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
        max_unpool2d max_unpool3d upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
        _upsample_nearest_exact2d _upsample_nearest_exact3d"""),
    "compares": ("the result follows from the order of the numbers alone", """
        _aminmax _assert_async _functional_assert_async abs adaptive_max_pool2d adaptive_max_pool3d all amax amin aminmax
        any argmax argmin bucketize ceil clamp clamp_max clamp_min copysign count_nonzero eq floor fmax fmin ge gt
        hardtanh hardtanh_backward heaviside isin isnan isneginf isposinf le logical_and logical_not logical_or
        logical_xor lt max max_pool2d_with_indices max_pool3d_with_indices maximum min minimum nan_to_num ne neg nextafter
        relu round searchsorted sgn sign signbit threshold threshold_backward trunc _cummax_helper _cummin_helper
        _foreach_abs _foreach_ceil _foreach_clamp_max _foreach_clamp_min _foreach_floor _foreach_max _foreach_maximum
        _foreach_minimum _foreach_neg _foreach_round _foreach_sign _foreach_trunc hardshrink hardshrink_backward
        _amp_foreach_non_finite_check_and_unscale _use_cudnn_ctc_loss _fused_sdp_choice"""),
    "one operation": ("one operation of IEEE 754, correctly rounded on every device (compared on an H200: no element of "
                      "2^20 differs)", """
        add sub rsub mul div.Tensor div_.Tensor div.out reciprocal ldexp leaky_relu leaky_relu_backward _prelu_kernel frac
        relu6 _foreach_add.Scalar _foreach_add_.Scalar _foreach_add.ScalarList _foreach_add_.ScalarList
        _foreach_add.List _foreach_add_.List _foreach_add.Tensor _foreach_add_.Tensor _foreach_sub
        _foreach_mul _foreach_div.List _foreach_div_.List _foreach_reciprocal masked_scale
        _add_relu fmod frexp"""),
    "whole numbers": ("whole numbers have no rounding", """
        __ilshift__ __irshift__ __lshift__ __rshift__ bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor gcd lcm _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo
        arange range _int_mm unique_dim _unique _unique2 unique_consecutive unique_dim_consecutive"""),
}

# No leaves: these call other operations, each of which is looked at by itself.
COMPOSITE = """linear matmul layer_norm softmax log_softmax scaled_dot_product_attention dropout cross_entropy_loss
    _safe_softmax embedding group_norm rms_norm batch_norm norm logsumexp""".split()


def _listed():
    return {name: group for group, (_, names) in GROUPS.items() for name in names.split()}


_OF = _listed()


def group_of(name):
    """The group of "add_.Tensor", or None."""
    if name in _OF:
        return _OF[name]
    base = name.split(".")[0]
    if base in _OF:
        return _OF[base]
    return _OF.get(base[:-1]) if base.endswith("_") and not base.endswith("__") else None
