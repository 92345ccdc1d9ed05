"""What holds for all tests."""

from hypothesis import settings

# A law is about what is true, not about how fast this machine is today.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")
