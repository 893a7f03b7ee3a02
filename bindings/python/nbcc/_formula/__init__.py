"""Formulas of Python as texts of pipelines: an expression tree that prints `.pipe`."""
