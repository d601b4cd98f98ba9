"""Which operation has which kernel: ours (KERNELS of the other files, each with the name of
the exact operation), torch's own (_right.py), or none; then it is outside of the contract.
"""
from lockstep import _library
from lockstep.torch import (_convolutions, _draw, _elementwise, _indexing, _losses, _norms, _optimizers, _pools, _products,
                            _reductions, _resize, _right)

# Leaf operations without a kernel at a device's key: they choose among libraries themselves
LEAVES = ("convolution", "convolution_backward", "mkldnn_convolution", "mkldnn_linear", "_nnpack_spatial_convolution",
          "_index_put_impl_", "convolution_overrideable", "convolution_backward_overrideable")
_FILES = (_products, _convolutions, _elementwise, _reductions, _norms, _pools, _resize, _losses, _indexing, _optimizers, _draw)


def kernels():
    """{name of an aten operation: function that computes it exactly}, of those whose exact
    operation this liblockstep has."""
    there, made = _library.operations(), {}
    for part in _FILES:
        made.update({name: make for name, (needs, make) in part.KERNELS.items()
                     if all(word in there for word in needs.split())})
    return made


def is_right(name):
    return _right.group_of(name) is not None
