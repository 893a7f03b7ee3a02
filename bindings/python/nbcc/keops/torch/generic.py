"""pykeops.torch.generic: the functions of pykeops.numpy.generic."""

from ..numpy.generic import *
from ..numpy.generic import __all__ as __all__
