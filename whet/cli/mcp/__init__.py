"""The server for coding agents: ``whet mcp``, over the Model Context Protocol."""
