"""The definitions as short plain Python: the specification that the native core must agree with.

For small histories; cost is no object here, being checkable against the papers is.
"""
