"""Search for the words nearest to a point, behind one protocol."""
