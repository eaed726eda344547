"""What goes to a language model: what of it is text, and its private form."""
