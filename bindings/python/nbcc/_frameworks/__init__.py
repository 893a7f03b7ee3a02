"""Sums as functions that PyTorch and JAX differentiate, transform and compile."""
