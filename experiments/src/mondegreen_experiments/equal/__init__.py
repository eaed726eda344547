"""Equal privacy: levels of protection, and what is left of use at them."""
