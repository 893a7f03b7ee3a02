"""Arrays of NumPy, PyTorch, JAX and CuPy, and numbers -> addresses, strides and element types; results -> new arrays."""
