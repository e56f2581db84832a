"""The pure parts of the controller."""
