"""Pipelines and results as a person reads them: signatures and docstrings, tables, HTML of notebooks."""
