"""Python values -> calls of the C interface nbcc.h by ctypes; its handles, structs and errors -> Python objects."""
