"""pykeops.torch.cluster: the functions of pykeops.numpy.cluster."""

from ..numpy.cluster import *
from ..numpy.cluster import __all__ as __all__
