"""pykeops.torch: the functions of pykeops.numpy, which take the arrays of every library."""

from ..numpy import *
from ..numpy import __all__ as __all__
