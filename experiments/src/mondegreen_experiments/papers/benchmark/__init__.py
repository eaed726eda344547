"""The comparative benchmark of Meisenbacher et al. 2024."""
