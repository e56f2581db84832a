"""What a reviewer needs to see of a registration: differences, rights in plain words, commands. Pure, no Django.

Everything here reads documents that somebody else wrote: any JSON value has an answer, none raises.
"""
