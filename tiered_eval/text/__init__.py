"""What the mechanical scorers know about text: pure functions over strings, nothing else."""
