"""pykeops.torch.generic."""

from .._genred import Genred, generic_argkmin, generic_argmin, generic_logsumexp, generic_sum

__all__ = ["Genred", "generic_argkmin", "generic_argmin", "generic_logsumexp", "generic_sum"]
