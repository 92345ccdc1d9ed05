"""Records of other tools come in, conversations go out: one module a format.

What is not understood is kept and counted, never dropped; a damaged file is a fault with its place.
"""
