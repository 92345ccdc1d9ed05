"""The words of Regrade as immutable records, the errors, and the protocols a plug-in meets.

Nothing comes in: this package imports no other part of Regrade, and nothing heavy.
"""
