"""Runs on a real cluster: the controller as a process of its own, with its own token, under the shipped policies."""
