"""Text columns of data frames: pandas, polars, Modin and Arrow tables."""

from mondegreen.integrations.frames import privatize, promises, register

__all__ = ["privatize", "promises", "register"]
