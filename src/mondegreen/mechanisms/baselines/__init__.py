"""Published mechanisms that are not metrically private: for comparison only."""
