"""What is ordinary, what is sensitive, and among which words a sensitive one hides."""
