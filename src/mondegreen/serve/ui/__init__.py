"""The page of the proxy: what leaves of a prompt, and the answer restored."""
