"""pykeops.torch.operations: the functions of pykeops.numpy.operations."""

from ..numpy.operations import *
from ..numpy.operations import __all__ as __all__
