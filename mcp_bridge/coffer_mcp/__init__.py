"""The room of the MCP bridge: a server that calls the same commands as the shell."""
