"""The keywords of one call, checked -> the arrays, params and options of a sum, and its results; its derivatives."""
