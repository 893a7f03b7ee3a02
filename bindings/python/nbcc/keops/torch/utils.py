"""pykeops.torch.utils: the functions of pykeops.numpy.utils."""

from ..numpy.utils import *
from ..numpy.utils import __all__ as __all__
