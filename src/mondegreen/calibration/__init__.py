"""From a target to parameters, and from parameters to what they exactly promise."""
